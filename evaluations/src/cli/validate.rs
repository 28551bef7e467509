//! The command line of `evaluations validate`.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct ValidateArgs {
    /// Files to check: dataset files, dataset manifests, settings, targets, or judgements and rankings in TREC format
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}
