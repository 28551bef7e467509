//! Cases that an earlier session finished.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::completion::Finished;
use crate::{CaseReport, Dataset, Domain};

/// Assigns cases of an earlier session their places in the report. Cases that are not part of the run are ignored, and of
/// several for one place the first counts.
pub(super) fn place<D: Domain>(
    cases: Vec<CaseReport<D>>,
    dataset: &Dataset<D>,
    repeats: NonZeroU32,
) -> Vec<Finished<D>> {
    if cases.is_empty() {
        return Vec::new();
    }
    let ids = dataset.cases().iter().map(|case| case.id.as_str());
    let positions: BTreeMap<&str, usize> = ids.zip(0..).collect();
    let mut placed = BTreeMap::new();
    for report in cases {
        let place = positions.get(report.id.as_str()).copied();
        if let Some(place) = place
            && (1..=repeats.get()).contains(&report.repeat)
        {
            let first = place * repeats.get() as usize;
            let position = first + report.repeat as usize - 1;
            // The dataset may declare its clusters since.
            let cluster = dataset.cases()[place].cluster.clone();
            let report = CaseReport { cluster, ..report };
            placed.entry(position).or_insert(report);
        }
    }
    let placed = placed.into_iter();
    placed
        .map(|(position, report)| Finished { position, report })
        .collect()
}
