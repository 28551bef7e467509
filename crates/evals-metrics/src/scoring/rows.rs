//! The rows of judgements and rankings, in whatever form they came.

use std::fmt;

/// Which of the two files is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum File {
    /// The judgements.
    Judgements,
    /// The rankings.
    Rankings,
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Judgements => "judgements",
            Self::Rankings => "rankings",
        })
    }
}

/// A document of a query, with its score or grade.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileRow<'t> {
    pub(super) id: &'t str,
    pub(super) value: f64,
    /// Counts from 1; 0 where there are no lines.
    pub(super) line: usize,
}
