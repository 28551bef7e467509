//! The cases on which several reports disagree most.

use evals_metrics::{arithmetic_mean, difference};
use serde::{Deserialize, Serialize};

use crate::case_field::first_text;
use crate::measured::UntestedMeasure;
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
    /// The cases whose values spread most, the widest spread first, ten at most.
    pub cases: Vec<Disagreement>,
}

/// A case on which reports disagree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    /// The case.
    pub id: CaseId,
    /// The first part of the case as people read it, such as its question.
    pub text: String,
    /// The standard deviation of its values over the reports, with the number of reports in the denominator.
    pub spread: f64,
    /// The value in each of [`Disagreements::reports`].
    pub values: Vec<f64>,
}

impl Disagreements {
    /// The disagreements in a measure over its cases.
    pub(super) fn of<'c, D: Domain>(
        measured: &UntestedMeasure<'_>,
        case: impl Fn(&CaseId) -> Option<&'c CaseReport<D>>,
    ) -> Self {
        let cases = &measured.cases;
        let mut spreads: Vec<(usize, f64)> = (0..cases.len())
            .map(|place| (place, spread(measured, place)))
            .collect();
        let agreed = spreads.iter().filter(|(_, spread)| *spread <= 0.0).count();
        spreads.retain(|(_, spread)| *spread > 0.0);
        spreads.sort_by(|(left_place, left), (right_place, right)| {
            let wider_first = right.total_cmp(left);
            wider_first.then_with(|| cases[*left_place].cmp(cases[*right_place]))
        });
        let listed = spreads.into_iter().take(LISTED);
        let listed = listed.map(|(place, spread)| Disagreement {
            id: cases[place].clone(),
            text: case(cases[place]).map(first_text).unwrap_or_default(),
            spread,
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

/// How far the values of a case are from their mean. Unlike the range, it tells a case on which one report is alone from one that
/// divides the reports.
fn spread(measured: &UntestedMeasure<'_>, place: usize) -> f64 {
    let values: Vec<f64> = measured.values.iter().map(|it| it[place]).collect();
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let Some(middle) = arithmetic_mean(&values).filter(|_| difference(low, high) > 0.0) else {
        return 0.0;
    };
    let squares: Vec<f64> = values.iter().map(|it| (it - middle).powi(2)).collect();
    arithmetic_mean(&squares).map_or(0.0, f64::sqrt)
}
