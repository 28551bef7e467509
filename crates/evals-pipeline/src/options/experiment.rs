//! The options that `run`, `eval`, `import` and `rejudge` share.

use std::ffi::OsString;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use evals::ClusterKey;
use evals_runs::shards::Shard;
use evals_targets::TargetAddress;

use super::numbers::{at_least_once, at_least_one, dollars, seed};
use super::settings::ModelName;
use crate::case_selection::Condition;

/// The system under test.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Target")]
pub struct TargetArgs {
    /// Test this system: `http://…`, `exec:COMMAND`, `chat:PROVIDER:NAME`, `outputs:FILE`, `trec:FILE` or
    /// `lancedb:DATABASE#TABLE` [default: the target of the dataset file, the setting target, or ./target.yaml; without a target, `run` tests our own pipeline]
    #[arg(long, alias = "task", value_name = "TARGET")]
    pub target: Option<TargetAddress>,
    /// The version of the system under test, as reports name it
    #[arg(long, hide = true, value_name = "VERSION")]
    pub target_version: Option<String>,
}

/// Which cases of the dataset run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cases")]
pub struct SelectionArgs {
    /// Use only cases whose metadata fits, e.g. `topic=Sports` or `topic!=Sports`; repeat the option for further values of a key (any may
    /// fit) or further keys (all must fit)
    #[arg(long = "filter-case", value_name = "KEY=VALUE")]
    pub filters: Vec<Condition>,
    /// Use only the case with this id; repeat the option for several
    #[arg(long = "case", value_name = "ID")]
    pub cases: Vec<String>,
    /// Use only the cases that failed or got worse in the run of `--from`
    #[arg(long, value_name = "WHAT", value_enum, requires = "from")]
    pub only: Option<Only>,
    /// The run that `--only` refers to: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest`
    #[arg(long, value_name = "RUN", requires = "only")]
    pub from: Option<OsString>,
    /// The run that `--only worse` compares with [default: the newest finished run before that of `--from` with its dataset, benchmark
    /// and, if there is one, profile]
    #[arg(long, hide = true, value_name = "RUN", requires = "only")]
    pub against: Option<OsString>,
    /// Use only the cases of one shard of several, e.g. `2/8` for the second of eight, to split a run over machines. Applies
    /// after the other options, by a hash of each case's id; `evaluations runs merge` joins the shards
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub shard: Option<Shard>,
}

/// Which cases of an earlier run to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Only {
    /// Cases with a failed task or evaluator, or with an assertion that did not hold
    Failed,
    /// Cases with a lower value of the first measure than in the run before, or that failed there
    Worse,
}

/// The model that judges, and whether its replies are paid for.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Judging")]
pub struct JudgingArgs {
    /// The model that judges, also for evaluators such as `LLMJudge` that do not name one [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub judge: Option<ModelName>,
    /// Estimate the calls, tokens and cost, and exit before the first paid request
    #[arg(long)]
    pub estimate: bool,
    /// Get replies from the batch endpoints of the models' servers: cheaper, but they take up to a day; see docs/batch.md
    #[arg(long, conflicts_with = "no_cache")]
    pub batch: bool,
    /// Do not read or write the caches of replies, vectors and scores
    #[arg(long, hide = true)]
    pub no_cache: bool,
}

/// How many cases run, how often, how many at once, and when the run stops.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub struct ControlArgs {
    /// Use only the first N of the chosen cases; the whole corpus is still indexed
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub limit: Option<NonZeroUsize>,
    /// Name of the run [default: the dataset's name followed by `_retrieval_evaluation`, `_qa_evaluation` or `_eval`]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub name: Option<String>,
    /// Cases to process at the same time [default: the setting evaluations.concurrency]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub concurrency: Option<NonZeroUsize>,
    /// Run each case N times, without the search cache
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = at_least_once)]
    pub repeat: NonZeroU32,
    /// Seed of random numbers, such as those of the bootstrap of the intervals
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
    pub seed: u64,
    /// Start over instead of resuming an unfinished run; cached replies are still used, but a target is asked again. Retrieval always
    /// starts over
    #[arg(long)]
    pub fresh: bool,
    /// Stop the run once N cases have failed with an error; wrong answers do not count
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub max_failures: Option<NonZeroUsize>,
    /// Start no more cases once the calls to models, and to a target with a known price, have cost this much; needs the setting `prices`
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = dollars)]
    pub budget: Option<f64>,
    /// Pull configured models that Ollama does not have yet
    #[arg(long, hide = true)]
    pub pull: bool,
}

/// How results are broken down, and where they are written.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Results")]
pub struct ResultArgs {
    /// Break every measure down by a key of the cases' metadata, e.g. `topic`; repeat the option for several
    #[arg(long = "group-by", value_name = "KEY")]
    pub group_by: Vec<String>,
    /// Count clusters of cases rather than cases in intervals and tests: `document` for questions that share a relevant document,
    /// `metadata:KEY` for those with one value of a key, or `none` [default: what the dataset declares]
    #[arg(long, hide = true, value_name = "KEY")]
    pub cluster: Option<ClusterKey>,
    /// Write a report to FILE; its extension chooses the format: .html (a page for browsers) .json .jsonl .csv .md, or for a run of a dataset file
    /// .pydantic.json for pydantic-evals' own format
    #[arg(long, value_name = "FILE")]
    pub out: Vec<PathBuf>,
}
