//! Why a dataset cannot be exported.

use std::path::PathBuf;

use thiserror::Error;

use crate::error::DataError;

/// Why a dataset cannot be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The folder has files, is something else than a folder, or has no folder around it.
    #[error("{problem}")]
    Target {
        /// The problem, with the path.
        problem: String,
    },
    /// A file or folder cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The path that it would have.
        path: PathBuf,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The caller stopped the export.
    #[error("the export was stopped")]
    Stopped,
    /// The dataset cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
}
