//! The command line of `evaluations export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// A dataset's name (see `evaluations datasets`), `beir:<name>`, or the path of a manifest
    pub(crate) dataset: String,
    /// A new or empty folder to write to
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: PathBuf,
    /// Format of the documents and questions
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    pub(crate) format: Format,
    /// Write reference answers, judgements and metadata of the questions too, and a `dataset.yaml` to run the folder as a dataset
    #[arg(long)]
    pub(crate) with_answers: bool,
    /// Leave out the documents
    #[arg(long)]
    pub(crate) questions_only: bool,
    /// Export judgements of documents that are missing from the corpus, instead of failing
    #[arg(long)]
    pub(crate) allow_missing_judged: bool,
}

/// The format of exported files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// JSON Lines
    Jsonl,
    /// Parquet
    Parquet,
    /// A text file for each document, and `manifest.jsonl` with their ids
    Text,
}
