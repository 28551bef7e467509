//! A defect of a line of JSON Lines, or of a parquet file.

use thiserror::Error;

/// A defect of a line of JSON Lines, or of a JSON document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum JsonFault {
    /// Not JSON.
    #[error("not a JSON object: {what} at column {column}")]
    Syntax {
        /// The parser's message.
        what: String,
        /// The character, from 1.
        column: usize,
    },
    /// Another kind of JSON value.
    #[error("not a JSON object, but {found}")]
    NotAnObject {
        /// The kind of the value.
        found: &'static str,
    },
    /// An array, of objects perhaps.
    #[error(
        "a JSON array starts here, but JSON Lines needs one object on each line; `jq -c '.[]'` converts it"
    )]
    Array,
    /// An object that continues on the next line.
    #[error(
        "the object does not end on this line, but JSON Lines needs one object on each line; `jq -c .` converts it"
    )]
    Spread,
    /// An object that the end of the file cuts off.
    #[error("the file ends in the middle of this object")]
    CutOff,
    /// Several objects on one line, or a comma between the elements of an array.
    #[error(
        "text follows the object at column {column}, but JSON Lines needs one object on each line"
    )]
    TextBehind {
        /// The character, from 1.
        column: usize,
    },
    /// A line beyond the size limit.
    #[error("the line is larger than 128 MiB")]
    TooLong,
    /// A JSON document that is not valid, or no table.
    #[error("not valid JSON: {what}")]
    Document {
        /// The problem.
        what: String,
    },
    /// A value of a JSON document beyond the size limit.
    #[error("the value that starts here is larger than 128 MiB")]
    TooLarge,
}

/// Why the parquet reader failed.
#[derive(Debug, Error)]
#[error(transparent)]
pub struct ParquetFailure(Box<dyn std::error::Error + Send + Sync>);

impl ParquetFailure {
    pub(crate) fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Box::new(error))
    }
}
