//! The command line of `evaluations run`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use evals_metrics::Measure;
use evals_rag::rag_judges::JudgedMeasure;

use super::numbers::{at_least_once, at_least_one, dollars, seed};
use super::results::ResultArgs;
use super::selection::SelectionArgs;
use super::settings::{ModelName, SettingsArgs};
use super::target::TargetArgs;

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArgs {
    /// A dataset's name (see `evaluations datasets`), `beir:<name>`, or the path of a manifest
    pub(crate) dataset: String,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) stages: StageArgs,
    #[command(flatten)]
    pub(crate) retrieval: RetrievalArgs,
    #[command(flatten)]
    pub(crate) qa: QaArgs,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) control: ControlArgs,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
    #[command(flatten)]
    pub(crate) variants: VariantArgs,
}

/// Several settings in one command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Variants")]
pub(crate) struct VariantArgs {
    /// Run once with each of these values of a setting, and compare the runs, e.g. `--set-each processing.chunk_size=64,128,256` or
    /// `--set-each embeddings.model=embedded:static-minilm,ollama:nomic-embed-text`; repeat the option for every combination of several
    /// settings [default: the setting matrix]
    #[arg(long = "set-each", value_name = "KEY=A,B,…")]
    pub(crate) each: Vec<String>,
    /// Draw the runs of this command into the folder DIR, as SVG and as PNG with 300 dots per inch: the comparison of several variants or
    /// search profiles, or a run alone
    #[arg(long, value_name = "DIR")]
    pub(crate) figures: Option<PathBuf>,
}

/// Which stages run, and on which database.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Stages")]
pub(crate) struct StageArgs {
    /// Database: a folder, or `s3://…`, `az://…` or `gs://…` if the program was built with object stores [default: the dataset's database in the data folder]
    #[arg(long, value_name = "URI")]
    pub(crate) db: Option<String>,
    /// Use an existing index, and fail if none matches the settings
    #[arg(long)]
    pub(crate) skip_db: bool,
    /// Skip the retrieval benchmark; together with `--skip-qa`, only build the index
    #[arg(long)]
    pub(crate) skip_retrieval: bool,
    /// Skip question answering
    #[arg(long)]
    pub(crate) skip_qa: bool,
}

/// The options of the retrieval benchmark.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Retrieval")]
pub(crate) struct RetrievalArgs {
    /// Search profile: unranked, bm25, semantic or hybrid, each also with `+rerank` appended, or all; repeat the option to compare several
    #[arg(long = "profile", value_name = "NAME")]
    pub(crate) profiles: Vec<String>,
    /// Documents to keep for each question; deeper measures of the dataset are cut at N [default: set by the dataset]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) k: Option<NonZeroUsize>,
    /// Additional measure, e.g. `nDCG@10`, `RR@10` or `MRR@10`, `AP@100` or `MAP@100`, `R@5`, `P@1`, `Success@10`
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<Measure>,
    /// Search only documents that match an SQL condition over uri, title and metadata (JSON text), e.g. `metadata LIKE
    /// '%Sports%'`
    #[arg(long, value_name = "SQL")]
    pub(crate) filter: Option<String>,
    /// Count judged documents that are missing from the corpus as not retrieved, instead of failing; a corpus without any relevant
    /// document is still an error
    #[arg(long)]
    pub(crate) allow_missing_judged: bool,
}

/// The models of question answering, their budget and their caches.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Question answering")]
pub(crate) struct QaArgs {
    /// The answering model, e.g. `ollama:gpt-oss` or `openai:gpt-5-mini` [default: the setting qa.model]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) model: Option<ModelName>,
    /// The model that judges answers [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) judge: Option<ModelName>,
    /// Further judges, separated by commas, e.g. `faithfulness,context_recall` [default: the setting evaluations.judges]
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        conflicts_with = "skip_qa"
    )]
    pub(crate) judges: Vec<JudgedMeasure>,
    /// Estimate the calls, tokens and cost of answering, judging and reranking, and exit before the first paid request
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Get answers and verdicts from the batch endpoints of the models' servers: cheaper, but they take up to a day; see docs/batch.md
    #[arg(long, conflicts_with_all = ["no_cache", "skip_qa"])]
    pub(crate) batch: bool,
    /// Stop embedding and start no more cases once embedding, answering, judging and reranking have cost this much; needs the `prices`
    /// of the models
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = dollars, conflicts_with = "skip_qa")]
    pub(crate) budget: Option<f64>,
    /// Do not read or write the caches of replies, vectors and scores
    #[arg(long, conflicts_with = "refresh")]
    pub(crate) no_cache: bool,
    /// Results to request again: `failed` retries the failed cases of a finished run, `all` requests everything and replaces cached
    /// replies and vectors
    #[arg(long, value_name = "WHAT", value_enum)]
    pub(crate) refresh: Option<Refresh>,
}

/// Results to request again although they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Refresh {
    /// The failed cases of the last run with the same settings
    Failed,
    /// Every reply and every vector
    All,
}

/// How many questions run, how often, and how many at once.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct ControlArgs {
    /// Use only the first N of the chosen questions; the whole corpus is still indexed
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Name of the run [default: the dataset's name followed by `_retrieval_evaluation` or `_qa_evaluation`]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: Option<String>,
    /// Questions to process at the same time [default: the setting evaluations.concurrency]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Ask each question N times, without the search cache
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = at_least_once)]
    pub(crate) repeat: NonZeroU32,
    /// Seed of random numbers, such as those of the bootstrap of the intervals
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: u64,
    /// Start over instead of resuming an unfinished run; cached replies are still used, but a target is asked again. Retrieval always
    /// starts over
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Stop the run once N cases have failed; wrong answers are not failures
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) max_failures: Option<NonZeroUsize>,
    /// Pull configured models that Ollama does not have yet
    #[arg(long)]
    pub(crate) pull: bool,
}
