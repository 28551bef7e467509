//! The table of pass rates whose true value failures leave open.

use super::measures::pass_rate_name;
use crate::{Summary, number};

/// What the columns mean.
pub(super) const LEGEND: &str = "worst counts every failure against, best in favour";

/// The heads of the columns.
pub(super) const TITLES: [&str; 5] = ["Failures included", "Scored", "Worst", "Best", "Coverage"];

/// One printed row.
#[derive(Debug)]
pub(super) struct AccuracyRow {
    pub(super) name: String,
    /// In the order of the titles; `None` where undefined.
    pub(super) shares: [Option<String>; 4],
}

/// One row for each assertion of which any repetition failed. For the others, the measure table says it all.
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
