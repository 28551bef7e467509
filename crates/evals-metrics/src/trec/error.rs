//! Errors of reading and writing TREC files.

use std::io;

use evals_messages::quantity;
use thiserror::Error;

/// Why a text is not a qrels or run file. Line numbers count from 1.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ParseError {
    /// A line has the wrong number of fields.
    #[error("line {line}: expected {expected}, found {}", quantity::of(*found, "field"))]
    Fields {
        /// The line.
        line: usize,
        /// The expected fields.
        expected: &'static str,
        /// The number of fields found.
        found: usize,
    },
    /// A carriage return that does not belong to the end of a line. `trec_eval` takes it for a blank, and so a file whose lines all end
    /// with one for a single line.
    #[error(
        "line {line}: a carriage return (CR) stands without the line feed that ends a line, as in files of old Macs; end lines with \
         line feeds, for example with `tr '\\r' '\\n'`"
    )]
    CarriageReturn {
        /// The line.
        line: usize,
    },
    /// A grade is not a whole number.
    #[error(
        "line {line}: `{value}` is not a grade; expected a whole number such as `1`{}",
        of_comma(value)
    )]
    Grade {
        /// The line.
        line: usize,
        /// The invalid text.
        value: String,
    },
    /// A score is not a number, or not a finite one.
    #[error(
        "line {line}: `{value}` is not a score; expected a number such as `12.5`{}",
        of_comma(value)
    )]
    Score {
        /// The line.
        line: usize,
        /// The invalid text.
        value: String,
    },
    /// A score is beyond the range of single precision, in which `trec_eval` holds scores.
    #[error(
        "line {line}: score `{value}` is out of range; expected a number of at most {greatest:e} \
         in size, the greatest in single precision",
        greatest = f32::MAX
    )]
    ScoreRange {
        /// The line.
        line: usize,
        /// The score.
        value: String,
    },
    /// A document is listed twice for one query.
    #[error(
        "{}document `{document}` is listed a second time for query `{query}`{}",
        at(*line),
        if *first == 0 { String::new() } else { format!(", first on line {first}; remove one of the two lines") }
    )]
    Duplicate {
        /// The line of the second mention, or 0 if the file has no lines.
        line: usize,
        /// The line of the first mention, or 0.
        first: usize,
        /// The query.
        query: String,
        /// The document.
        document: String,
    },
    /// A quoted field of a CSV file does not end in its line.
    #[error(
        "line {line}: a quoted field does not end in its line; close the quote, or write `\"\"` for a quote inside of it"
    )]
    Quotes {
        /// The line.
        line: usize,
    },
    /// The fields of a file are divided as in CSV, and its first line does not name the columns.
    #[error(
        "line {line}: {} divides the fields, but no header names the columns; begin the file with a line such as \
         `query-id{delimiter}corpus-id{delimiter}score`",
        if *delimiter == '\t' { "a tab".to_owned() } else { format!("`{delimiter}`") }
    )]
    NoHeader {
        /// The line.
        line: usize,
        /// What divides the fields.
        delimiter: char,
    },
    /// Two columns of a CSV file have names for the same thing.
    #[error(
        "line {line}: the columns `{}` and `{}` could both hold the {what}; rename the one that does not",
        columns[0],
        columns[1]
    )]
    SameColumns {
        /// The line of the header.
        line: usize,
        /// What both names say: `query`, `document` or `value`.
        what: &'static str,
        /// The names as they are written.
        columns: [String; 2],
    },
    /// A JSON file is malformed or has another shape.
    #[error("{message}; the form is `{{\"query\": {{\"document\": number}}}}`")]
    Json {
        /// What is wrong, with line and column.
        message: String,
    },
}

impl ParseError {
    /// The line, if the file has lines.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Fields { line, .. }
            | Self::CarriageReturn { line }
            | Self::Grade { line, .. }
            | Self::Score { line, .. }
            | Self::ScoreRange { line, .. }
            | Self::Duplicate { line, .. }
            | Self::NoHeader { line, .. }
            | Self::SameColumns { line, .. }
            | Self::Quotes { line } => Some(*line),
            Self::Json { .. } => None,
        }
    }
}

/// How to write a number in which a comma may stand for decimals or for thousands.
fn of_comma(value: &str) -> &'static str {
    if value.contains(',') {
        "; write a point before decimals, and nothing between thousands"
    } else {
        ""
    }
}

fn at(line: usize) -> String {
    match line {
        0 => String::new(),
        line => format!("line {line}: "),
    }
}

/// Why a qrels or run file could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteError {
    /// An id or tag is not [plain](super::is_plain_id), so the file would read back differently.
    #[error(
        "`{}` has no place in a TREC file: fields are not empty and have no white space, NUL or \
         leading byte order mark",
        field.escape_debug()
    )]
    Field {
        /// The query id, document id or tag.
        field: String,
    },
    /// The output cannot be written to.
    #[error("cannot write")]
    Io(#[from] io::Error),
}
