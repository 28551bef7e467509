//! The command lines of `evaluations datasets` and `evaluations download`.

use clap::Args;

#[derive(Debug, Clone, Args)]
pub(crate) struct DatasetsArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DownloadArgs {
    /// A dataset's name, the path of a manifest, or `all`
    pub(crate) dataset: String,
}
