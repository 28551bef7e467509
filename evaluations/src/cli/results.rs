//! The options for the results of a run.

use std::path::PathBuf;

use clap::Args;
use evals::ClusterKey;

/// How results are broken down, and where they are written.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ResultArgs {
    /// Break every measure down by a key of the cases' metadata, e.g. `topic`; repeat the option for several
    #[arg(long = "group-by", value_name = "KEY")]
    pub(crate) group_by: Vec<String>,
    /// Count clusters of cases rather than cases in intervals and tests: `document` for questions that share a relevant document,
    /// `metadata:KEY` for those with one value of a key, or `none` [default: what the dataset declares]
    #[arg(long, value_name = "KEY")]
    pub(crate) cluster: Option<ClusterKey>,
    /// Write a report to FILE; its extension chooses the format: .html (a page for browsers) .json .jsonl .csv .md, or for a run of a dataset file
    /// .pydantic.json for pydantic-evals' own format
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
}
