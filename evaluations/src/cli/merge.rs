//! The command line of `evaluations merge`.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct MergeArgs {
    /// Shards to join: data folders or `runs` folders of other machines as paths, for all shards in them; else runs: folders as paths,
    /// names of folders or their starts, or the `--name` of runs. Shards of several benchmarks or profiles are joined separately
    /// [default: the shards in the data folder]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
}
