//! Why a dataset cannot be exported.

use std::path::PathBuf;

use thiserror::Error;

use crate::error::DataError;

/// Why a dataset cannot be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The folder has files.
    #[error("`{}` is not empty; name a folder that does not exist, or an empty one", folder.display())]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// Something else than a folder has the name.
    #[error("`{}` is not a folder; name a folder that does not exist, or an empty one", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder around it does not exist.
    #[error("the folder `{}` for `{}` does not exist", parent.display(), folder.display())]
    NoParent {
        /// The folder to write.
        folder: PathBuf,
        /// The folder around it.
        parent: PathBuf,
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
