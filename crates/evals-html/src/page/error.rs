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
    /// A case is not that of the table's row.
    #[error("row {row} of the table is the case `{expected}`, but the page was given {}", shown(found.as_deref()))]
    Case {
        /// The row, from 0.
        row: usize,
        /// The id in the table.
        expected: String,
        /// The id of the case; `None` if the cases ended.
        found: Option<String>,
    },
    /// There are more cases than rows.
    #[error("the table has {rows} rows, but the page was given one more case, `{found}`")]
    Excess {
        /// The rows of the table.
        rows: usize,
        /// The id of the case.
        found: String,
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

fn shown(id: Option<&str>) -> String {
    id.map_or_else(|| "no case".to_owned(), |id| format!("the case `{id}`"))
}
