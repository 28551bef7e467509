//! The command line of `evaluations tune`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;

use super::numbers::at_least_one;
use super::run::RunArgs;

/// The end of `tune --help`, for terminals of 80 columns.
const HELP: &str = "\
The section `tune:` of the settings, or the file of `--space`, names what is
tried:

  objective: nDCG@10
  space:
    processing.chunk_size: [128, 256, 512]
    search.profile: [bm25, semantic, hybrid]
    search.fusion.method: [rrf, linear]
    search.fusion.weight: {from: 0.1, to: 0.9}
  limits: {latency.p95: 300ms, cost_per_question: 0.002}
  budget: {usd: 5, time: 30m}

The search does not see a third of the questions. On these, the settings that it
chose meet yours once. The same command resumes.";

#[derive(Debug, Clone, Args)]
#[command(after_long_help = HELP)]
#[command(mut_arg("each", |it| it.hide(true)), mut_arg("figures", |it| it.hide(true)), mut_arg("shard", |it| it.hide(true)))]
#[command(mut_arg("skip_qa", |it| it.hide(true)), mut_arg("skip_retrieval", |it| it.hide(true)), mut_arg("repeat", |it| it.hide(true)))]
pub struct TuneArgs {
    /// Read objective, space, limits and budget from FILE instead of the section `tune:` of the settings
    #[arg(long, help_heading = "Tuning", value_name = "FILE")]
    pub space: Option<PathBuf>,
    /// The share of the questions that the search does not see, from 0.1 to 0.9 [default: the setting tune.holdout, a third]
    #[arg(long, help_heading = "Tuning", value_name = "SHARE")]
    pub holdout: Option<f64>,
    /// Try at most N settings; a larger space is sampled [default: the setting tune.trials, 64]
    #[arg(long, help_heading = "Tuning", value_name = "N", allow_negative_numbers = true, value_parser = at_least_one)]
    pub trials: Option<NonZeroUsize>,
    /// Say which true gains this dataset and space can find, and run nothing
    #[arg(long, help_heading = "Tuning")]
    pub simulate: bool,
    #[command(flatten)]
    pub run: RunArgs,
}
