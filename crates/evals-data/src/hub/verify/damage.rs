//! A defect of a file.

use std::io;

use parquet::errors::ParquetError;
use thiserror::Error;

/// A defect of a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Damage {
    /// It cannot be read.
    #[error("cannot be read")]
    Unreadable(#[from] io::Error),
    /// It is not a regular file but, for example, a folder or a device.
    #[error("it is {0}, not a regular file")]
    NotAFile(&'static str),
    /// It has another size.
    #[error("{found} bytes instead of {expected}")]
    Size {
        /// The size that the hub states.
        expected: u64,
        /// The actual size.
        found: u64,
    },
    /// Its content has another SHA-256.
    #[error("SHA-256 {found} instead of {expected}")]
    Sha256 {
        /// The digest that the hub states.
        expected: String,
        /// The digest of the actual content.
        found: String,
    },
    /// Its content has another digest in git.
    #[error("git's digest {found} instead of {expected}")]
    Git {
        /// The digest that the hub states.
        expected: String,
        /// The digest of the actual content.
        found: String,
    },
    /// The bytes `PAR1`, which a parquet file has at both ends, are missing.
    #[error("not a parquet file: `PAR1` is missing at its {end}; it begins with {beginning:?}")]
    NotParquet {
        /// `beginning` or `end`.
        end: &'static str,
        /// The first characters, which may reveal an error page.
        beginning: String,
    },
    /// The parquet footer is broken.
    #[error("not a readable parquet file")]
    Footer(#[source] ParquetError),
}
