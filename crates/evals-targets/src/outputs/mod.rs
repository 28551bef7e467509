//! Replies that were made elsewhere, in a file.

mod cell;
mod csv_file;
mod error;
mod json_lines;
mod replies;
mod target;

use serde_json::{Map, Value};

pub use error::{OutputsError, RowProblem};
pub use replies::Outputs;
pub use target::OutputsTarget;

#[cfg(test)]
mod tests;

/// A row of a file of replies.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputRow {
    /// Where it is in the file, such as `line 3`.
    pub place: String,
    /// Its fields.
    pub fields: Map<String, Value>,
}
