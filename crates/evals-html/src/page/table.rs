//! The table of cases: one row for each case, as columns.

use serde::Serialize;

use crate::view::segment;

/// The rows of a page, stored column by column. A page shows them in this order until somebody sorts them: worst first.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CaseRows {
    /// The ids of the cases, unique. The case of row `i` is entry `i % 64` of block `i / 64`.
    pub ids: Vec<String>,
    /// The columns, from left to right. All have as many cells as there are ids.
    pub columns: Vec<Column>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Column {
    /// Names the column in links and filters; unique.
    pub key: String,
    /// The head of the column.
    pub title: String,
    /// How it is sorted, filtered and drawn.
    pub kind: ColumnKind,
    /// Whether higher values are better; `None` if neither is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub higher_is_better: Option<bool>,
    /// Whether the column is visible at first.
    pub is_visible: bool,
    /// One for each row.
    pub cells: Vec<Cell>,
}

impl Column {
    /// How the links begin that show the rows with some value in this column: `#f.KEY=`, with the key percent-encoded. What they
    /// look for follows.
    pub fn filter(&self) -> String {
        format!("#f.{}=", segment(&self.key))
    }
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// Words, such as a question.
    Text,
    /// A number.
    Number,
    /// A time in seconds.
    Seconds,
    /// Passed (1), failed (0), or the share of repetitions that passed.
    Verdict,
    /// One of few words, which filters offer: where a case broke, a group.
    Label,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A number for sorting, and formatted.
    Number(f64, String),
    /// A text or label.
    Text(String),
    /// No value, with the reason. It sorts last in both directions and is never shown as 0.
    Undefined {
        /// The reason.
        undefined: String,
    },
    /// The column does not apply to the case.
    Empty,
}
