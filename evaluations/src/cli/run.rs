//! The command line of `evaluations run`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use evals_metrics::Measure;

use super::numbers::{at_least_once, at_least_one, dollars, seed};
use super::settings::{ModelName, SettingsArgs};

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// A dataset's name (see `evaluations datasets`), `beir:<name>`, or the path of a manifest
    pub(crate) dataset: String,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) stages: StageArgs,
    #[command(flatten)]
    pub(crate) retrieval: RetrievalArgs,
    #[command(flatten)]
    pub(crate) qa: QaArgs,
    #[command(flatten)]
    pub(crate) control: ControlArgs,
    /// Write a report to FILE; its extension chooses the format: .json .jsonl .csv .md
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
}

/// What is run, and on which database.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Stages")]
pub(crate) struct StageArgs {
    /// Database: a folder, or `s3://…` and `db://…` where they are built in [default: the dataset's, in the data folder]
    #[arg(long, value_name = "URI")]
    pub(crate) db: Option<String>,
    /// Use the index that is there, and fail where it does not match the settings
    #[arg(long)]
    pub(crate) skip_db: bool,
    /// Leave out the retrieval benchmark; with `--skip-qa` as well the index is built, and that is all
    #[arg(long)]
    pub(crate) skip_retrieval: bool,
    /// Leave out question answering
    #[arg(long)]
    pub(crate) skip_qa: bool,
}

/// What the retrieval benchmark measures.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Retrieval")]
pub(crate) struct RetrievalArgs {
    /// Search profile: unranked, bm25, semantic or hybrid, each also with `+rerank` behind it, or all; several are compared
    #[arg(long = "profile", value_name = "NAME")]
    pub(crate) profiles: Vec<String>,
    /// Documents kept for each question; measures of the dataset that look deeper are cut at N [default: the dataset's]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) k: Option<NonZeroUsize>,
    /// A further measure, e.g. `nDCG@10`, `RR@10` or `MRR@10`, `AP@100` or `MAP@100`, `R@5`, `P@1`, `Success@10`
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<Measure>,
    /// Search only documents that match a WHERE clause over uri, title and metadata, which is JSON text: `metadata LIKE
    /// '%Sports%'`
    #[arg(long, value_name = "SQL")]
    pub(crate) filter: Option<String>,
    /// Count judgements of documents that the corpus does not have, instead of failing; a corpus without any relevant document
    /// is still an error
    #[arg(long)]
    pub(crate) allow_missing_judged: bool,
}

/// Who answers, who judges, and what that may cost.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Question answering")]
pub(crate) struct QaArgs {
    /// The answering model, e.g. `ollama:gpt-oss` or `openai:gpt-5-mini` [default: the setting qa.model]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<ModelName>,
    /// The model that judges answers [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) judge: Option<ModelName>,
    /// Print what answering and judging would take, and stop before anything is paid for
    #[arg(long, conflicts_with = "skip_qa")]
    pub(crate) estimate: bool,
    /// Embed no further documents and start no further case once embedding, answers, verdicts and reranking have cost this much; needs the `prices` of the models
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = dollars, conflicts_with = "skip_qa")]
    pub(crate) budget: Option<f64>,
    /// Neither take replies, vectors and scores from the caches nor store them there
    #[arg(long, conflicts_with = "refresh")]
    pub(crate) no_cache: bool,
    /// What to ask anew: `failed` takes up a finished run's failed cases again, `all` asks everything and stores the new
    /// replies and vectors
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) refresh: Option<Refresh>,
}

/// What is asked anew although there is a result of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Refresh {
    /// The cases that failed in the last run of the same settings
    Failed,
    /// Every reply and every vector
    All,
}

/// How the run is conducted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct ControlArgs {
    /// Use the first N questions only; the whole corpus is still indexed
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Name of the run [default: the dataset's, with `_retrieval_evaluation` or `_qa_evaluation` behind it]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: Option<String>,
    /// Questions worked on at the same time [default: the setting evaluations.concurrency]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Ask each question N times; nothing is taken from the search cache then
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = at_least_once)]
    pub(crate) repeat: NonZeroU32,
    /// Seed of everything random, which is the bootstrap of the intervals
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: u64,
    /// Start anew instead of continuing an unfinished run; replies in the cache are still used. Retrieval always starts anew
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Have Ollama pull the models of the settings that it does not have
    #[arg(long)]
    pub(crate) pull: bool,
}
