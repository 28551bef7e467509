//! The command line of `evaluations compare`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct CompareArgs {
    /// The run that is changed from: its folder, its report.json, its name or the start of it, or `latest` [default: for each
    /// finished run of the last command the one before that has its dataset, benchmark and profile]
    pub(crate) before: Option<OsString>,
    /// The run that is changed to [default: the newest finished one of that dataset and benchmark, or each finished run of the last
    /// command]
    #[arg(requires = "before")]
    pub(crate) after: Option<OsString>,
    /// Compare this measure only, as the table names it; the fewer are tested, the less is lost to the correction for that
    #[arg(long = "measure", value_name = "M")]
    pub(crate) measures: Vec<String>,
    /// Exit with 1 where a measure is worse by more than chance, more cases failed than before, or a newer run is not finished
    #[arg(long)]
    pub(crate) fail_if_worse: bool,
    /// Write the comparison to FILE; its extension chooses the format: .json .md
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Vec<PathBuf>,
}
