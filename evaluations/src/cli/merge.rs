//! The command line of `evaluations merge`.

use std::ffi::OsString;

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct MergeArgs {
    /// Shards to join. The path of a data folder or of a `runs` folder means all shards in it. For a single shard, give its run: the path
    /// of its folder, the folder's name or the start of it, or its `--name`. Each benchmark and profile is joined separately [default: the
    /// shards in the data folder]
    #[arg(value_name = "RUN")]
    pub(crate) runs: Vec<OsString>,
}
