//! What is wrong with a file.

use std::io;

use parquet::errors::ParquetError;
use thiserror::Error;

/// What is wrong with a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Damage {
    /// It cannot be read.
    #[error("cannot be read")]
    Unreadable(#[from] io::Error),
    /// It is something else than a file, such as a folder or a device.
    #[error("it is {0} and not a file")]
    NotAFile(&'static str),
    /// It is longer or shorter.
    #[error("{found} bytes instead of {expected}")]
    Size {
        /// Bytes as the hub states them.
        expected: u64,
        /// Bytes there are.
        found: u64,
    },
    /// Its content is another one.
    #[error("SHA-256 {found} instead of {expected}")]
    Sha256 {
        /// The digest that the hub states.
        expected: String,
        /// The digest of what is there.
        found: String,
    },
    /// Its content is another one, by the digest that git has for it.
    #[error("git's digest {found} instead of {expected}")]
    Git {
        /// The digest that the hub states.
        expected: String,
        /// The digest of what is there.
        found: String,
    },
    /// A parquet file has the four bytes `PAR1` at both ends, and this one has not.
    #[error("not a parquet file: `PAR1` is missing at its {end}; it begins with {beginning:?}")]
    NotParquet {
        /// `beginning` or `end`.
        end: &'static str,
        /// The first characters, to recognise an error page.
        beginning: String,
    },
    /// The parquet footer is broken.
    #[error("not a readable parquet file")]
    Footer(#[source] ParquetError),
}
