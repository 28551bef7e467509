//! The record of the chosen cases in the manifest and the report of a run.

use serde::{Deserialize, Serialize};

/// The record of a run's selection. Runs with different records are different runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SelectionRecord {
    /// Cases of the dataset.
    pub(crate) of: usize,
    /// Chosen cases.
    pub(crate) chosen: usize,
    /// The options that chose them.
    pub(crate) by: Vec<String>,
    /// A digest of the ids of the chosen cases.
    pub(crate) ids: String,
}

impl SelectionRecord {
    /// The key of a report's metadata that holds the record.
    pub(crate) const KEY: &str = "selection";

    /// How many of how many cases were chosen, and why.
    pub(crate) fn text(&self, chosen: usize) -> String {
        format!("{chosen} of {} ({})", self.of, self.by.join(", "))
    }
}
