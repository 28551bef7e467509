//! The command lines of `evaluations datasets`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DatasetsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Option<DatasetsCommand>,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum DatasetsCommand {
    /// Download a dataset from the Hugging Face hub, to work offline later
    Download(DownloadArgs),
    /// Write a dataset's documents and questions into a folder, for another system to read
    Export(ExportArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DownloadArgs {
    /// A dataset's name, the path of a manifest, or `all`
    pub(crate) dataset: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// A dataset's name (see `evaluations datasets`), `beir:<name>`, or the path of a manifest
    pub(crate) dataset: String,
    /// A new or empty folder to write to
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: PathBuf,
    /// Format of the documents and questions
    #[arg(long, value_enum, default_value_t = ExportLayout::Jsonl)]
    pub(crate) format: ExportLayout,
    /// Also write reference answers, judgements and metadata of the questions, and a `dataset.yaml` to run the folder as a dataset
    #[arg(long)]
    pub(crate) with_answers: bool,
    /// Leave out the documents
    #[arg(long, hide = true)]
    pub(crate) questions_only: bool,
    /// Export judgements of documents that are missing from the corpus, instead of failing
    #[arg(long, hide = true)]
    pub(crate) allow_missing_judged: bool,
}

/// The format of exported files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportLayout {
    /// JSON Lines
    Jsonl,
    /// Parquet
    Parquet,
    /// A text file for each document, and `manifest.jsonl` with their ids
    Text,
}
