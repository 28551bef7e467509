//! Why a store could not be read or written.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ErrorCode;
use thiserror::Error;

/// How long an access waits for another process to unlock the file.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// How long it waits after an access that waited in vain, so that accesses in a queue do not all wait long.
pub(super) const SHORT_PATIENCE: Duration = Duration::from_secs(1);

/// Why a store could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder of the file could not be created.
    #[error("could not create the folder `{}`", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
    /// The path is not that of a file.
    #[error("`{}` is {found}, not a file: move it away, or name a different file", path.display())]
    NoFile {
        /// The path.
        path: PathBuf,
        /// The kind of thing at that path.
        found: &'static str,
    },
    /// The file is not a database, or parts of the database are missing or changed.
    #[error(
        "`{0}` is damaged: move it away to start with an empty one, or save what is readable with `sqlite3 {0} .recover`",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The file is another program's database, or a store of another kind.
    #[error("`{}` is a database, but not one of {holds}: name a different file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The expected contents.
        holds: &'static str,
    },
    /// The file was written by another version of this program, in a format that this version does not read.
    #[error(
        "`{}` has format {found} and this version reads format {supported}: name a different file, or move it away to start with an empty one",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The format that this version reads.
        supported: i64,
    },
    /// Another process kept the file locked for too long.
    #[error("gave up waiting for `{}`, which another process keeps locked", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Any other failure of the database, such as a full disk or missing permissions.
    #[error("could not use `{}`", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// The error of `SQLite`.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The process was shutting down before the access was done.
    #[error("shut down before `{}` was read or written", path.display())]
    Stopped {
        /// The file.
        path: PathBuf,
    },
}

impl StoreError {
    /// Sorts an error of the database by what the user can do about it.
    pub(super) fn of(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let is_unreadable = matches!(
            source,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..)
        );
        let code = source.sqlite_error_code();
        let source = Box::new(source);
        match code {
            _ if is_unreadable => Self::Damaged { path, source },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, source }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            _ => Self::Database { path, source },
        }
    }
}
