//! The options that name a system under test.

use clap::Args;
use evals_targets::TargetAddress;

/// The system under test.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// Test this system instead of our own pipeline: `http://…`, `exec:COMMAND`, `chat:PROVIDER:NAME`, `outputs:FILE` or
    /// `trec:FILE` [default: the setting target, or ./target.yaml]
    #[arg(long, alias = "task", value_name = "TARGET")]
    pub(crate) target: Option<TargetAddress>,
    /// The version of the system under test, as reports name it
    #[arg(long, value_name = "VERSION")]
    pub(crate) target_version: Option<String>,
}
