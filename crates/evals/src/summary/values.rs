//! The value of each case for each measure, and how many lie in each tenth from 0 to 1.

use std::collections::BTreeMap;

use super::column::{Gaps, Values};
use super::labels::Labels;
use super::tally::Tally;
use crate::{CaseId, Direction, Domain, Report, Unit};

/// Bins of equal width from 0 to 1.
pub(crate) const BINS: usize = 10;

/// Numbers of cases by bin, by the titles of scores.
pub(crate) type Histograms = BTreeMap<String, [usize; BINS]>;

/// The values of all measures: those of evaluators in the order in which they return them, then metrics.
#[derive(Debug)]
pub(crate) struct CaseValues<'a>(Vec<MeasureValues<'a>>);

impl<'a> CaseValues<'a> {
    /// The scores and assertions.
    pub(crate) fn measures(&self) -> impl Iterator<Item = &MeasureValues<'a>> {
        self.0.iter().filter(|it| it.unit != Unit::Metric)
    }

    /// For each score from 0 to 1, the number of cases in each bin. A case without a value is in none.
    pub(crate) fn histograms(&self) -> Histograms {
        let scores = self.0.iter().filter(|it| it.unit == Unit::Score);
        let histograms = scores.filter_map(|it| {
            let values = it.of_cases.values();
            let bins = by_bin(values.filter_map(|value| value.ok()))?;
            Some((it.title.clone(), bins))
        });
        histograms.collect()
    }

    /// The values of the measure with this title; empty if the report does not have it.
    pub(crate) fn of(&self, unit: Unit, title: &str) -> &Values<'a> {
        let mut measures = self.0.iter();
        let found = measures.find(|it| it.unit == unit && it.title == title);
        found.map_or(const { &Values::new() }, |it| &it.of_cases)
    }
}

/// A measure with its value for each case.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureValues<'r> {
    /// Its title in the [summary](crate::Summary).
    pub title: String,
    /// The unit of its values.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Direction,
    /// The value of each case that the measure applies to: the mean over repetitions, or the reason for its absence.
    pub of_cases: BTreeMap<&'r CaseId, Result<f64, &'r str>>,
    /// Whether a task or an evaluator failed, or the value is undefined, for each case without a value.
    pub(crate) gaps: Gaps<'r>,
}

impl<D: Domain> Report<D> {
    /// The scores, assertions and metrics with their value for each case: those of evaluators in their order, then recorded metrics.
    pub fn measure_values(&self) -> Vec<MeasureValues<'_>> {
        let tally = Tally::of(&self.cases);
        let measures = tally.measures().map(|(unit, column)| MeasureValues {
            title: column.title.clone(),
            unit,
            better: column.better,
            of_cases: column.values(),
            gaps: column.gaps(),
        });
        measures.collect()
    }

    /// The value of each case for each score, by the score's title in the [summary](Self::summary): the mean over repetitions, or the
    /// reason for its absence. A case that a score does not apply to is not there.
    pub fn score_values(&self) -> BTreeMap<String, BTreeMap<&CaseId, Result<f64, &str>>> {
        let measures = self.measure_values().into_iter();
        let scores = measures.filter(|it| it.unit == Unit::Score);
        scores.map(|it| (it.title, it.of_cases)).collect()
    }

    /// The value of each case for each measure.
    pub(crate) fn case_values(&self) -> CaseValues<'_> {
        CaseValues(self.measure_values())
    }

    /// The labels of each case, for each measure of labels.
    pub(crate) fn case_labels(&self) -> BTreeMap<String, Labels<'_>> {
        Tally::of(&self.cases).labels().collect()
    }
}

/// Counts values by bin; the last one includes 1. `None` without values, or if one is not from 0 to 1.
pub(crate) fn by_bin(values: impl Iterator<Item = f64>) -> Option<[usize; BINS]> {
    let mut bins = [0; BINS];
    let mut any = false;
    for value in values {
        *bins.get_mut(bin(value)?)? += 1;
        any = true;
    }
    any.then_some(bins)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the number of a bin is small"
)]
fn bin(value: f64) -> Option<usize> {
    let is_share = (0.0..=1.0).contains(&value);
    // The epsilon puts 0.3 into the bin that begins with 0.3.
    is_share.then(|| ((value * BINS as f64 + 1e-9) as usize).min(BINS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_at_an_edge_is_in_the_upper_bin_and_one_in_the_last() {
        let bins = by_bin([0.0, 0.1, 0.3, 0.299, 0.95, 1.0].into_iter());
        assert_eq!(bins, Some([1, 1, 1, 1, 0, 0, 0, 0, 0, 2]));
    }

    #[test]
    fn scores_beyond_one_have_no_histogram() {
        assert_eq!(by_bin([0.5, 4.0].into_iter()), None);
        assert_eq!(by_bin([-0.5].into_iter()), None);
        assert_eq!(by_bin(std::iter::empty()), None);
    }
}
