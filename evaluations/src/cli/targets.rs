//! The command lines of `evaluations targets`.

use clap::{Args, Subcommand};

#[derive(Debug, Clone, Args)]
pub(crate) struct TargetsArgs {
    #[command(subcommand)]
    pub(crate) command: TargetsCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TargetsCommand {
    /// List the search engines that have a description
    List,
    /// Print the description of a search engine, for a file `target.yaml`
    Show {
        /// A name of the list
        name: String,
    },
}
