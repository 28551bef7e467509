//! The change of one measure between two reports.

use std::collections::BTreeMap;

use evals_metrics::{PairedDifference, difference};
use serde::{Deserialize, Serialize};

use crate::case_field::first_text;
use crate::measured::{PairOutcome, UntestedMeasure};
use crate::pair_testing::Finding;
use crate::{CaseField, CaseId, CaseReport, Direction, Domain, Unit};

/// How many cases are listed at most as the worst, and as the best, of a measure.
const NAMED: usize = 5;

/// The change of one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasureChange {
    /// Name of the measure.
    pub measure: String,
    /// The name of its mean in tables, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Direction,
    /// Both means and their difference; `None` where no case has both values.
    pub difference: Option<PairedDifference>,
    /// The test's corrected p value and verdict.
    #[serde(flatten)]
    pub finding: Finding,
    /// Pairs that have a value in the first report only.
    pub only_before: usize,
    /// Pairs that have a value in the second report only.
    pub only_after: usize,
    /// Pairs without a value in either report, by the second report's reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub excluded: BTreeMap<String, usize>,
    /// The cases that got worse, worst first, five at most; empty where neither direction is better.
    pub worst: Vec<CaseChange>,
    /// The cases that got better, best first, five at most; empty where neither direction is better.
    pub best: Vec<CaseChange>,
}

/// The change of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseChange {
    /// The case.
    pub id: CaseId,
    /// Its value in the first report.
    pub before: f64,
    /// Its value in the second report.
    pub after: f64,
    /// Its first part as people read it, such as its question.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What was expected, with its name: `relevant: d1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What the first report has for it, such as the documents found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned_before: Option<String>,
    /// What the second report has for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returned_after: Option<String>,
}

impl CaseChange {
    /// Adds what the reports say about the case.
    pub(super) fn tell<D: Domain>(&mut self, cases: &[BTreeMap<&CaseId, &CaseReport<D>>; 2]) {
        let [before, after] = cases.each_ref().map(|cases| cases.get(&self.id));
        let [told_before, told_after] = [before, after].map(|it| it.map(|case| D::gist(case)));
        let text = |field: CaseField| field.text;
        let expected = told_after.as_ref().and_then(|it| it.expected.as_ref());
        self.text = after.map(|case| first_text(case)).unwrap_or_default();
        self.expected = expected.map(|it| format!("{}: {}", it.name, it.text));
        self.returned_before = told_before.and_then(|it| it.returned).map(text);
        self.returned_after = told_after.and_then(|it| it.returned).map(text);
    }
}

impl MeasureChange {
    /// The change of a measure by the test of its two reports; `None` if no case has both values.
    pub(super) fn of(measured: UntestedMeasure<'_>, outcome: Option<PairOutcome>) -> Self {
        let cases = measured.cases.iter().zip(measured.pairs_of(0, 1));
        let cases = cases.map(|(id, (before, after))| CaseChange {
            id: (*id).clone(),
            before,
            after,
            text: String::new(),
            expected: None,
            returned_before: None,
            returned_after: None,
        });
        let cases: Vec<CaseChange> = cases.collect();
        let gain = measured.better.gain();
        let (difference, finding) = match outcome {
            Some(outcome) => (Some(outcome.difference), outcome.finding),
            None => (None, Finding::of(None)),
        };
        Self {
            worst: most_changed(&cases, gain.map(|sign| -sign)),
            best: most_changed(&cases, gain),
            measure: measured.measure,
            mean_title: measured.mean_title,
            unit: measured.unit,
            better: measured.better,
            difference,
            finding,
            only_before: measured.without_value[1],
            only_after: measured.without_value[0],
            excluded: measured.excluded,
        }
    }

    /// The name of the measure's mean in tables.
    pub fn title(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.measure)
    }
}

/// The cases with the largest differences of one sign, largest first; ties by id.
fn most_changed(pairs: &[CaseChange], sign: Option<f64>) -> Vec<CaseChange> {
    let Some(sign) = sign else { return Vec::new() };
    let size = |pair: &CaseChange| sign * difference(pair.before, pair.after);
    let mut changed: Vec<_> = pairs.iter().filter(|pair| size(pair) > 0.0).collect();
    changed.sort_by(|left, right| {
        let larger_first = size(right).total_cmp(&size(left));
        larger_first.then_with(|| left.id.cmp(&right.id))
    });
    changed.into_iter().take(NAMED).cloned().collect()
}
