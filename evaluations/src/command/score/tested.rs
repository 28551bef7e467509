//! Tests of runs against each other, and the correction of their p values.

use evals::{Adjustment, Family};
use evals_metrics::scoring::Scores;
use evals_metrics::{PairedDifference, PairedTest, Scale};

use super::ScoredRun;
use super::clusters::QueryClusters;

/// The highest corrected p value that is significant.
pub(super) const SIGNIFICANCE: f64 = 0.05;

/// The test of one measure of two runs.
pub(super) struct Tested {
    /// Whether it is about the first measure, which is tested first.
    pub(super) is_headline: bool,
    /// The p value; `None` if no query changed.
    pub(super) p_value: Option<f64>,
}

/// The change of a measure between two runs, by clusters of queries if there are any. `None` if they have no query in common.
pub(super) fn difference(
    positions: [usize; 2],
    column: usize,
    runs: &[ScoredRun],
    clusters: Option<&QueryClusters>,
) -> Option<PairedDifference> {
    let [before, after] = positions.map(|position| &runs[position].scores);
    let (queries, pairs): (Vec<&str>, Vec<(f64, f64)>) =
        pairs(before, after, column).into_iter().unzip();
    let clusters = clusters.map(|clusters| clusters.among(queries.into_iter()));
    PairedTest::default().compare(&pairs, clusters.as_deref(), Scale::Share)
}

/// Corrects the p values of the first measure, and those of all others, each together. Returns how many tests both are, and the corrected p
/// values in their order.
pub(super) fn corrected(tests: &[Tested]) -> ([usize; 2], Vec<Option<f64>>) {
    let mut adjusted = vec![None; tests.len()];
    let counts = [true, false].map(|is_headline| {
        let own = tests.iter().enumerate();
        let own = own.filter(|(_, it)| it.is_headline == is_headline);
        let (places, p_values): (Vec<usize>, Vec<Option<f64>>) =
            own.map(|(place, it)| (place, it.p_value)).unzip();
        let family = Family::of(p_values, Adjustment::Holm, SIGNIFICANCE);
        for (place, p_value) in places.into_iter().zip(family.adjusted()) {
            adjusted[place] = *p_value;
        }
        family.tests()
    });
    (counts, adjusted)
}

/// The values of queries that both runs have. An undefined value counts as 0, as in the mean.
fn pairs<'s>(before: &'s Scores, after: &Scores, column: usize) -> Vec<(&'s str, (f64, f64))> {
    let queries = before.queries().iter().enumerate();
    queries
        .filter_map(|(position, query)| {
            let other = after.queries().binary_search(query).ok()?;
            let value = |scores: &Scores, query: usize| scores.values(query)[column].unwrap_or(0.0);
            let pair = (value(before, position), value(after, other));
            Some((query.as_str(), pair))
        })
        .collect()
}
