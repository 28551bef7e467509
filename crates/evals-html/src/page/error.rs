//! Errors of writing a page.

use std::io;

use thiserror::Error;

/// Why a page could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PageError {
    /// The file cannot be written.
    #[error("cannot write the page")]
    Io(#[from] io::Error),
    /// The opening cannot be rendered.
    #[error("cannot render the opening of the page")]
    Template(#[from] minijinja::Error),
    /// A part cannot be written as JSON, such as a number that is not finite.
    #[error("cannot write a part of the page as JSON")]
    Json(#[from] serde_json::Error),
    /// The cases are not those of the table's rows.
    #[error("row {row} of the table is the case `{expected}`, but the page was given {}", found.as_ref().map_or_else(|| "no case".to_owned(), |id| format!("the case `{id}`")))]
    Case {
        /// The row, from 0.
        row: usize,
        /// The id in the table; empty after the last row.
        expected: String,
        /// The id of the case; `None` if the cases ended.
        found: Option<String>,
    },
    /// A column has more or fewer cells than the table has rows.
    #[error("the column `{key}` has {cells} cells for {rows} rows")]
    Column {
        /// Its key.
        key: String,
        /// Its cells.
        cells: usize,
        /// The rows of the table.
        rows: usize,
    },
}
