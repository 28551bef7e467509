//! One report of several that each hold some of the cases.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{CaseReport, Report, analyses, titles};
use crate::{CaseId, Domain, ReportEvaluator};

/// A report of some cases of a run, with the places of these cases in the dataset of the whole run.
#[derive(Clone, Debug)]
pub struct ReportPart<D: Domain> {
    /// The report of the part.
    pub report: Report<D>,
    /// The place of each of its cases, in the order of the report. Repetitions of a case share one. A case without a place comes last.
    pub places: Vec<usize>,
}

impl<D: Domain> Report<D> {
    /// The report that one run over the cases of all parts would have given, apart from timings; `None` without a part.
    ///
    /// Name, dataset, evaluators and [metadata](Self::metadata) are those of the first part, because the parts share them. The caller
    /// replaces metadata that depends on the cases. The [duration](Self::duration) is the sum of all parts, as that of a resumed run is the
    /// sum of its sessions. The report has no [analyses](Self::analyses): [`analyse`](Self::analyse) makes them of all cases.
    pub fn joined(parts: impl IntoIterator<Item = ReportPart<D>>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let first = parts.next()?;
        let mut joined = first.report;
        let mut cases = placed(std::mem::take(&mut joined.cases), &first.places);
        for ReportPart { report, places } in parts {
            cases.extend(placed(report.cases, &places));
            joined.interrupted |= report.interrupted;
            joined.not_run += report.not_run;
            joined.stopped = joined.stopped.or(report.stopped);
            joined.duration += report.duration;
            joined.observer_failures.extend(report.observer_failures);
        }
        cases.sort_by_key(|(place, case)| (*place, case.repeat));
        joined.cases = cases.into_iter().map(|(_, case)| case).collect();
        // Numbers the names that several evaluators share, over the cases of all parts.
        titles::settle(&mut joined.cases);
        joined.analyses = Vec::new();
        joined.report_evaluator_failures = Vec::new();
        Some(joined)
    }

    /// Replaces the analyses and the failures of report evaluators by those of `evaluators`. None of them sees the analyses of another.
    pub async fn analyse(&mut self, evaluators: &[Arc<dyn ReportEvaluator<D>>]) {
        self.analyses = Vec::new();
        self.report_evaluator_failures = Vec::new();
        analyses::add(self, evaluators, &CancellationToken::new()).await;
    }
}

/// The cases with the places of their ids, which are in the order of the cases.
fn placed<D: Domain>(cases: Vec<CaseReport<D>>, places: &[usize]) -> Vec<(usize, CaseReport<D>)> {
    let mut known: BTreeMap<CaseId, usize> = BTreeMap::new();
    let mut places = places.iter().copied();
    let placed = cases.into_iter().map(|case| {
        let known = known.entry(case.id.clone());
        let place = *known.or_insert_with(|| places.next().unwrap_or(usize::MAX));
        (place, case)
    });
    placed.collect()
}
