//! The command lines of `evaluations datasets`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use evals_pipeline::options::SettingsArgs;

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
    /// Write a dataset's documents, or the chunks of its index, and its questions into a folder, for another system to read
    Export(ExportArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DownloadArgs {
    /// A dataset's name, the path of a manifest, or `all`
    pub(crate) dataset: String,
}

#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a separate option")]
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
    /// Write the chunks of the index that a run with the same settings searches, in place of the documents; build the index if it is missing
    #[arg(long)]
    pub(crate) chunks: bool,
    /// Also write the chunks' vectors
    #[arg(long, requires = "chunks")]
    pub(crate) vectors: bool,
    /// Database of the index, with `--chunks` [default: the dataset's database in the data folder]
    #[arg(long, value_name = "URI", requires = "chunks")]
    pub(crate) db: Option<String>,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    /// Leave out the documents
    #[arg(long, hide = true, conflicts_with = "chunks")]
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
    /// With `--chunks`: Vespa's feed
    Vespa,
    /// With `--chunks`: the bulk API of OpenSearch and Elasticsearch
    Opensearch,
    /// With `--chunks`: a request of Qdrant on each line
    Qdrant,
    /// With `--chunks`: a request of Weaviate on each line
    Weaviate,
    /// With `--chunks`: a script of `psql`, for pgvector
    Sql,
}
