//! Tests whether chance explains the differences between runs.

use std::num::NonZeroU32;

use evals_metrics::scoring::{Scores, Statistic};
use evals_metrics::{PairedDifference, PairedTest, holm};

use super::ScoredRun;

/// Random swaps of each test, if there are too many queries to try all.
const RESAMPLES: NonZeroU32 = NonZeroU32::new(10_000).expect("10,000 is not 0");

/// The changes of all measures from one run to each other one.
pub(super) struct Comparison {
    /// The position of the run that others are compared with.
    pub(super) baseline: usize,
    pub(super) changes: Vec<RunChange>,
}

/// The change of one measure from the baseline to another run.
pub(super) struct RunChange {
    /// The position of the other run.
    pub(super) run: usize,
    /// The position of the measure among the columns.
    pub(super) column: usize,
    pub(super) difference: PairedDifference,
    /// The p value after Holm's correction for all tests of the comparison.
    pub(super) adjusted: f64,
}

impl Comparison {
    /// Compares all runs with the first, or with the one of the best first measure.
    pub(super) fn of(runs: &[ScoredRun], with_best: bool) -> Self {
        let columns = tested(&runs[0].scores);
        let baseline = match (with_best, columns.first()) {
            (true, Some(&column)) => best(runs, column),
            _ => 0,
        };
        let mut changes = Vec::new();
        for run in (0..runs.len()).filter(|run| *run != baseline) {
            for &column in &columns {
                let pairs = pairs(&runs[baseline].scores, &runs[run].scores, column);
                let test = PairedTest {
                    resamples: RESAMPLES,
                    ..PairedTest::default()
                };
                if let Some(difference) = test.compare(&pairs) {
                    changes.push(RunChange {
                        run,
                        column,
                        adjusted: difference.p_value,
                        difference,
                    });
                }
            }
        }
        let p_values: Vec<f64> = changes.iter().map(|it| it.difference.p_value).collect();
        for (change, adjusted) in changes.iter_mut().zip(holm(&p_values)) {
            change.adjusted = adjusted;
        }
        Self { baseline, changes }
    }

    /// What a reader of the means has to know, if they are of different queries.
    pub(super) fn warning(runs: &[ScoredRun]) -> Option<String> {
        let first = runs[0].scores.queries();
        let differs = runs.iter().any(|run| run.scores.queries() != first);
        differs.then(|| {
            "the runs rank different queries, so their means cannot be compared; the tests use the queries that both runs have \
             (--complete counts missing ones as 0)"
                .to_owned()
        })
    }
}

/// The columns that are means of measures.
fn tested(scores: &Scores) -> Vec<usize> {
    let columns = scores.columns().iter().enumerate();
    columns
        .filter(|(_, column)| matches!(column.statistic, Statistic::Mean(_)))
        .map(|(index, _)| index)
        .collect()
}

/// The run with the highest mean; of several, the first.
fn best(runs: &[ScoredRun], column: usize) -> usize {
    let mean = |run: &ScoredRun| run.scores.summary(column).number().unwrap_or(0.0);
    let mut best = 0;
    for (index, run) in runs.iter().enumerate() {
        if mean(run) > mean(&runs[best]) {
            best = index;
        }
    }
    best
}

/// The values of queries that both runs have. An undefined value counts as 0, as in the mean.
fn pairs(before: &Scores, after: &Scores, column: usize) -> Vec<(f64, f64)> {
    let queries = before.queries().iter().enumerate();
    queries
        .filter_map(|(position, query)| {
            let other = after.queries().binary_search(query).ok()?;
            let value = |scores: &Scores, query: usize| scores.values(query)[column].unwrap_or(0.0);
            Some((value(before, position), value(after, other)))
        })
        .collect()
}
