//! The command line of `evaluations init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Clone, Args)]
pub(crate) struct InitArgs {
    /// Kind of system to evaluate
    #[arg(value_enum, default_value_t = Kind::Rag)]
    pub(crate) kind: Kind,
    /// A new or empty folder to write to [default: the current folder]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: Option<PathBuf>,
}

/// The kind of system that a new folder evaluates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Search and answers over a folder of documents
    Rag,
    /// A service over HTTP
    Http,
    /// A prompt of a chat model
    Prompt,
}
