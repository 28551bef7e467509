//! The command line of `evaluations eval`.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use super::numbers::{at_least_once, at_least_one, dollars, seed};
use super::output::ShownPart;
use super::results::ResultArgs;
use super::selection::SelectionArgs;
use super::settings::{ModelName, SettingsArgs};
use super::target::TargetArgs;

#[derive(Debug, Clone, Args)]
pub(crate) struct EvalArgs {
    /// A dataset file: YAML or JSON in pydantic-evals' format, CSV as promptfoo reads it, or JSON Lines
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    #[command(flatten)]
    pub(crate) judging: EvalJudgeArgs,
    #[command(flatten)]
    pub(crate) control: EvalControlArgs,
    #[command(flatten)]
    pub(crate) shown: EvalShownArgs,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
}

/// The model of evaluators that ask one, its budget and its cache.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Judging")]
pub(crate) struct EvalJudgeArgs {
    /// The model for evaluators such as `LLMJudge` that do not name one [default: the setting evaluations.judge]
    #[arg(long, value_name = "PROVIDER:NAME")]
    pub(crate) judge: Option<ModelName>,
    /// Count the requests to the target and to the judges, and exit before the first of them
    #[arg(long)]
    pub(crate) estimate: bool,
    /// Get verdicts from the batch endpoints of the judges' servers: cheaper, but they take up to a day; see docs/batch.md
    #[arg(long, conflicts_with_all = ["no_cache", "watch"])]
    pub(crate) batch: bool,
    /// Start no more cases once the judges, and the target as far as its price is known, have cost this much; needs the `prices` of the
    /// judges
    #[arg(long, value_name = "USD", allow_negative_numbers = true, value_parser = dollars)]
    pub(crate) budget: Option<f64>,
    /// Do not read or write the cache of judges' replies
    #[arg(long)]
    pub(crate) no_cache: bool,
}

/// How many cases run, how often, and how many at once.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct EvalControlArgs {
    /// Use only the first N cases
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) limit: Option<NonZeroUsize>,
    /// Name of the run [default: the dataset's name followed by `_eval`]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) name: Option<String>,
    /// Cases to run at the same time [default: the setting evaluations.concurrency]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) concurrency: Option<NonZeroUsize>,
    /// Run each case N times
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = at_least_once)]
    pub(crate) repeat: NonZeroU32,
    /// Seed of random numbers: the bootstrap of the intervals, and the pauses before retries
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = seed)]
    pub(crate) seed: u64,
    /// Start over instead of resuming an unfinished run
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Stop the run once N cases have failed; assertions that do not hold are not failures
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub(crate) max_failures: Option<NonZeroUsize>,
    /// Ask the target again, up to N times, if it fails. Requests over HTTP are already retried, so the attempts multiply
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_once)]
    pub(crate) retry_task: Option<NonZeroU32>,
    /// Run a failed evaluator again, up to N times
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_once)]
    pub(crate) retry_evaluators: Option<NonZeroU32>,
    /// Run again whenever the file changes or, for `exec:`, a file in the command's folder, and show what changed
    #[arg(long, conflicts_with = "estimate")]
    pub(crate) watch: bool,
    /// Pull configured models that Ollama does not have yet
    #[arg(long)]
    pub(crate) pull: bool,
}

/// The details of cases to print.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct EvalShownArgs {
    /// Show at most N cases, failed and lowest first; 0 shows none
    #[arg(long = "cases", value_name = "N", default_value_t = 20)]
    pub(crate) most: usize,
    /// Show the reasons of evaluators, and what was expected where an assertion failed without a reason
    #[arg(long)]
    pub(crate) reasons: bool,
    /// Show these parts of each case, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "PARTS",
        value_delimiter = ',',
        default_value = "output"
    )]
    pub(crate) show: Vec<ShownPart>,
}
