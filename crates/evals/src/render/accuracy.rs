//! The table of pass rates with failures, and their bounds.

use super::measures::pass_rate_name;
use crate::{Summary, number};

/// Explains the columns.
pub(super) const LEGEND: &str = "worst: failed cases count against the system; best: in its favour";

/// The heads of the columns.
pub(super) const TITLES: [&str; 5] = ["Failures included", "Scored", "Worst", "Best", "Coverage"];

/// One printed row.
#[derive(Debug)]
pub(super) struct AccuracyRow {
    pub(super) name: String,
    /// In the order of the titles; `None` where undefined.
    pub(super) shares: [Option<String>; 4],
}

/// One row for each assertion that lacks a value in any repetition because of a failure. The measure table is enough for the
/// others.
pub(super) fn rows(summary: &Summary) -> Vec<AccuracyRow> {
    let accuracy = summary.accuracy.iter();
    let open = accuracy.filter(|(_, accuracy)| !accuracy.is_complete());
    open.map(|(name, accuracy)| AccuracyRow {
        name: pass_rate_name(name),
        shares: [
            accuracy.scored.value,
            accuracy.worst,
            accuracy.best,
            accuracy.coverage,
        ]
        .map(|share| share.map(number::score)),
    })
    .collect()
}
