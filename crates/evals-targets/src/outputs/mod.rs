//! Replies that were made elsewhere, in a file.

mod cell;
mod csv_file;
mod digest;
mod error;
mod json_lines;
mod replies;
mod target;
mod trec;

pub use error::{OutputsError, RowProblem};
pub use replies::{OutputRow, Outputs};
pub use target::OutputsTarget;

#[cfg(test)]
mod tests;
