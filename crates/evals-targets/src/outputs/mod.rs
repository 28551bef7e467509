//! Replies that were made elsewhere, in a file.

mod cell;
mod csv_file;
mod digest;
mod error;
mod json_lines;
mod replies;
mod row;
mod target;
mod trec;

pub use error::{OutputsError, RowProblem};
pub use replies::Outputs;
pub use row::OutputRow;
pub use target::OutputsTarget;

#[cfg(test)]
mod tests;
