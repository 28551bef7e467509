//! Tests of runs against each other.

use evals_metrics::scoring::Scores;
use evals_metrics::{PairedDifference, PairedTest, Scale};

use super::ScoredRun;
use super::clusters::QueryClusters;

/// The highest corrected p value that is significant.
pub(super) const SIGNIFICANCE: f64 = 0.05;

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
