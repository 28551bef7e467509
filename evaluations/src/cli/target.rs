//! The options that name a system under test.

use clap::Args;
use evals_targets::TargetAddress;

/// The system under test.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// Test this system: `http://…`, `exec:COMMAND`, `chat:PROVIDER:NAME`, `outputs:FILE` or `trec:FILE` [default: the target of the
    /// dataset file, the setting target, or ./target.yaml; without a target, `run` tests our own pipeline]
    #[arg(long, alias = "task", value_name = "TARGET")]
    pub(crate) target: Option<TargetAddress>,
    /// The version of the system under test, as reports name it
    #[arg(long, value_name = "VERSION")]
    pub(crate) target_version: Option<String>,
}
