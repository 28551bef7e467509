//! The options that choose cases of a dataset.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

use crate::case_selection::Condition;
use crate::shards::Shard;

/// Which cases of the dataset run.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cases")]
pub(crate) struct SelectionArgs {
    /// Use only cases whose metadata fits, e.g. `topic=Sports` or `topic!=Sports`; repeat the option for more values of a key, or for
    /// further keys, which all have to fit
    #[arg(long = "filter-case", value_name = "KEY=VALUE")]
    pub(crate) filters: Vec<Condition>,
    /// Use only the case with this id; repeat the option for several
    #[arg(long = "case", value_name = "ID")]
    pub(crate) cases: Vec<String>,
    /// Use only cases that failed in the run of `--from`, or that got worse in it
    #[arg(long, value_name = "WHAT", value_enum, requires = "from")]
    pub(crate) only: Option<Only>,
    /// The run that `--only` refers to: its folder, its report.json, the folder's name or the start of it, its `--name`, or `latest`
    #[arg(long, value_name = "RUN", requires = "only")]
    pub(crate) from: Option<OsString>,
    /// The run that `--only worse` compares with [default: the newest finished run before that of `--from` with its dataset, benchmark
    /// and, if there is one, profile]
    #[arg(long, value_name = "RUN", requires = "only")]
    pub(crate) against: Option<OsString>,
    /// Use only the cases of one shard of several, e.g. `2/8` for the second of eight, to split a run over machines. The other options
    /// choose cases first. Then a hash of the id of each case decides its shard. `evaluations merge` joins the runs of all shards
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub(crate) shard: Option<Shard>,
}

/// Which cases of an earlier run to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// Cases with a failed task or evaluator, or with an assertion that did not hold
    Failed,
    /// Cases with a lower value of the first measure than in the run before, or that failed there
    Worse,
}
