//! The cases on which several reports disagree most.

use evals_metrics::difference;
use serde::{Deserialize, Serialize};

use super::measure::Measured;
use crate::{CaseId, CaseReport, Domain, Unit};

/// How many cases are listed at most.
const LISTED: usize = 10;

/// Where several reports disagree in one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disagreements {
    /// Name of the measure.
    pub measure: String,
    /// The name of its mean in tables, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// The positions of the reports that have the measure.
    pub reports: Vec<usize>,
    /// The number of cases that have a value in each of these reports.
    pub n: usize,
    /// How many of them have the same value in all reports.
    pub agreed: usize,
    /// The cases with the widest range of values, widest first, ten at most.
    pub cases: Vec<Disagreement>,
}

/// A case on which reports disagree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    /// The case.
    pub id: CaseId,
    /// The first part of the case as people read it, such as its question.
    pub text: String,
    /// The greatest value minus the least.
    pub range: f64,
    /// The value in each of [`Disagreements::reports`].
    pub values: Vec<f64>,
}

impl Disagreements {
    /// The disagreements in a measure over these cases, which are in the order of its values.
    pub(super) fn of<'c, D: Domain>(
        measured: &Measured,
        cases: &[&CaseId],
        case: impl Fn(&CaseId) -> Option<&'c CaseReport<D>>,
    ) -> Self {
        let mut ranges: Vec<(usize, f64)> = (0..cases.len())
            .map(|place| (place, range(measured, place)))
            .collect();
        let agreed = ranges.iter().filter(|(_, range)| *range <= 0.0).count();
        ranges.retain(|(_, range)| *range > 0.0);
        ranges.sort_by(|(left_place, left), (right_place, right)| {
            let wider_first = right.total_cmp(left);
            wider_first.then_with(|| cases[*left_place].cmp(cases[*right_place]))
        });
        let listed = ranges.into_iter().take(LISTED);
        let listed = listed.map(|(place, range)| Disagreement {
            id: cases[place].clone(),
            text: case(cases[place]).map(first_text).unwrap_or_default(),
            range,
            values: measured
                .values
                .iter()
                .map(|of_case| of_case[place])
                .collect(),
        });
        Self {
            measure: measured.measure.clone(),
            mean_title: measured.mean_title.clone(),
            unit: measured.unit,
            reports: measured.reports.clone(),
            n: cases.len(),
            agreed,
            cases: listed.collect(),
        }
    }

    /// The name of the measure's mean in tables.
    pub fn title(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.measure)
    }
}

fn range(measured: &Measured, place: usize) -> f64 {
    let values = || measured.values.iter().map(|of_case| of_case[place]);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    difference(low, high).max(0.0)
}

fn first_text<D: Domain>(case: &CaseReport<D>) -> String {
    let fields = D::case_fields(case);
    let field = fields.into_iter().next();
    field.map(|field| field.text).unwrap_or_default()
}
