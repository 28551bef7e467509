//! Tests of runs against each other, with one correction of all p values.

use evals::{Adjustment, Family};
use evals_metrics::scoring::Scores;
use evals_metrics::{PairedTest, difference};

use super::ScoredRun;

/// The highest corrected p value that is significant.
pub(super) const SIGNIFICANCE: f64 = 0.05;

/// The test of one measure of two runs.
pub(super) struct Tested {
    /// The positions of the runs.
    pub(super) runs: [usize; 2],
    /// The position of the measure among the columns.
    pub(super) column: usize,
    /// The p value; `None` if no query changed.
    pub(super) p_value: Option<f64>,
}

impl Tested {
    pub(super) fn of(
        positions: [usize; 2],
        column: usize,
        runs: &[ScoredRun],
        test: PairedTest,
    ) -> Self {
        let [before, after] = positions.map(|position| &runs[position].scores);
        let pairs = pairs(before, after, column);
        let changes: Vec<f64> = pairs
            .iter()
            .map(|(before, after)| difference(*before, *after))
            .collect();
        let is_changed = changes.iter().any(|change| change.abs() > 0.0);
        Self {
            runs: positions,
            column,
            p_value: test.p_value(&changes).filter(|_| is_changed),
        }
    }
}

/// Corrects the p values of all tests together. If there are so many tests that the least p value would not be significant, first repeats
/// the tests with low p values with more swaps.
pub(super) fn family(tests: &[Tested], runs: &[ScoredRun], test: PairedTest) -> Family {
    let by = |p_values: Vec<Option<f64>>| Family::of(p_values, Adjustment::Holm, SIGNIFICANCE);
    let family = by(tests.iter().map(|tested| tested.p_value).collect());
    let finer = test.resolving(family.strictest());
    if finer == test {
        return family;
    }
    let p_values = tests.iter().map(|tested| {
        let p_value = tested.p_value?;
        if test.is_rough(p_value) {
            Tested::of(tested.runs, tested.column, runs, finer).p_value
        } else {
            Some(p_value)
        }
    });
    by(p_values.collect())
}

/// The values of queries that both runs have. An undefined value counts as 0, as in the mean.
pub(super) fn pairs(before: &Scores, after: &Scores, column: usize) -> Vec<(f64, f64)> {
    let queries = before.queries().iter().enumerate();
    queries
        .filter_map(|(position, query)| {
            let other = after.queries().binary_search(query).ok()?;
            let value = |scores: &Scores, query: usize| scores.values(query)[column].unwrap_or(0.0);
            Some((value(before, position), value(after, other)))
        })
        .collect()
}
