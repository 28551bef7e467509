//! Places in files, for messages.

use std::fmt;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line or row, from 1.
    pub number: u64,
    /// The unit of the number.
    pub unit: Unit,
}

/// The unit in which a [`Place`] counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Lines of a text file, as an editor shows them.
    Line,
    /// Rows of a table.
    Row,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Line => write!(formatter, "{}:{}", self.file, self.number),
            Unit::Row => write!(formatter, "{}, row {}", self.file, self.number),
        }
    }
}
