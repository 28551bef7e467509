//! Differences between a table's files and their record.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::FILE_NAME;

/// How the files of a table differ from their record.
#[derive(Debug, Error)]
pub(crate) enum FileDefect {
    #[error("its file `{0}` is missing")]
    Missing(String),
    #[error("its file `{path}` has {actual} bytes instead of {expected}")]
    Size {
        path: String,
        expected: u64,
        actual: u64,
    },
    #[error("the content of its file `{0}` was changed")]
    Content(String),
    #[error("its file `{0}` was added after the index was finished")]
    Added(String),
    #[error("its file `{FILE_NAME}`, which records the others, was changed")]
    Record,
}

/// Why files do not match their record, or could not be compared with it.
#[derive(Debug)]
pub(crate) enum FileError {
    Defect(FileDefect),
    Unreadable { path: PathBuf, source: io::Error },
}

impl From<FileDefect> for FileError {
    fn from(defect: FileDefect) -> Self {
        Self::Defect(defect)
    }
}

pub(super) fn unreadable(path: &Path) -> impl Fn(io::Error) -> FileError {
    move |source| FileError::Unreadable {
        path: path.to_owned(),
        source,
    }
}
