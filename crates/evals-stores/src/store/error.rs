use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::ErrorCode;
use thiserror::Error;

/// How long another process may keep the file locked.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// The same once that was too long, so that those who come next do not wait as long one after the other.
pub(super) const LITTLE_PATIENCE: Duration = Duration::from_secs(1);

/// Why a store could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder of the file could not be made.
    #[error("could not create the folder `{}`", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What happened.
        #[source]
        source: io::Error,
    },
    /// What is there is no file.
    #[error("`{}` is {found}, where a file has to be: move it away, or name another file", path.display())]
    NoFile {
        /// Where the file should be.
        path: PathBuf,
        /// What is there instead.
        found: &'static str,
    },
    /// The file is no database, or a database with holes.
    #[error(
        "`{0}` is damaged: move it away to start with an empty one, or save what is readable with `sqlite3 {0} .recover`",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The file is another program's database.
    #[error("`{}` is a database of something else than {holds}: name another file", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        holds: &'static str,
    },
    /// The file was written by a version of this program that does it differently.
    #[error(
        "`{}` has format {found} and this version reads format {supported}: name another file, or move it away to start with an empty one",
        path.display()
    )]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The format that can be read.
        supported: i64,
    },
    /// Another process does not let go of the file.
    #[error("another process keeps `{}` locked: gave up waiting for it", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Anything else that the database reports: a full disk, missing rights.
    #[error("could not use `{}`", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What happened.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The runtime was shut down before the file was read or written.
    #[error("stopped before `{}` was read or written", path.display())]
    Stopped {
        /// The file.
        path: PathBuf,
    },
}

impl StoreError {
    pub(super) fn of(path: &Path, source: rusqlite::Error) -> Self {
        if matches!(
            source,
            rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::Utf8Error(..)
        ) {
            return Self::damaged(path, source);
        }
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged {
                path,
                source: Box::new(source),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            _ => Self::Database {
                path,
                source: Box::new(source),
            },
        }
    }

    pub(super) fn damaged(path: &Path, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            source: source.into(),
        }
    }
}
