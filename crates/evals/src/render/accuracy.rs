//! The rows of the table of pass rates that failures leave open.

use super::measures::pass_rate_name;
use crate::{Summary, number};

/// What the table's shares are.
pub(super) const LEGEND: &str = "worst and best count every failure against and in favour";

/// The heads of the columns.
pub(super) const TITLES: [&str; 5] = ["Failures included", "Scored", "Worst", "Best", "Coverage"];

/// One printed row.
#[derive(Debug)]
pub(super) struct AccuracyRow {
    pub(super) name: String,
    /// As in the titles; `None` where there is none.
    pub(super) shares: [Option<String>; 4],
}

/// One row for each assertion of which any repetition failed. The others have nothing to add to their pass rates.
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
