//! A defect of a row of CSV, a line of JSON Lines, or a parquet file.

use thiserror::Error;

/// A defect of a row of CSV.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CsvFault {
    /// A quote that is never closed.
    #[error(
        "the quote that opens a field here is never closed; a quote inside a quoted field is written twice (`\"\"`)"
    )]
    UnclosedQuote,
    /// A closing quote that is not at the end of its field.
    #[error(
        "the quote that opens a field here is closed on line {closed}, but more text follows before the field ends; a quote \
         inside a quoted field is written twice (`\"\"`)"
    )]
    TextAfterQuote {
        /// The line of the closing quote.
        closed: u64,
    },
    /// More or fewer fields than the header.
    #[error(
        "{fields} fields where the header has {header}; a field that holds the separator, a quote or a line break needs \
         quotes around it"
    )]
    Ragged {
        /// Fields of the row.
        fields: usize,
        /// Fields of the header.
        header: usize,
    },
    /// A row beyond the size limit.
    #[error("the {} starts here is larger than 128 MiB{}", if *in_quotes { "quoted field that" } else { "row that" }, if *in_quotes { "; is its closing quote missing?" } else { "" })]
    TooLong {
        /// Whether a quote is open.
        in_quotes: bool,
    },
}

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
