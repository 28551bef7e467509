//! Tests whether chance explains the lead of the best of several runs.

use std::fmt;

use evals::render::{p_value, percent};
use evals::{Change, Comparison, Direction, Domain, Row, Titled, Verdict};
use evals_metrics::{Interval, PairedTest};

/// The lead of the best run over the next, in the first measure that has a winner.
#[derive(Debug)]
pub(crate) struct Lead {
    measure: String,
    /// The position of the best run.
    pub(crate) place: usize,
    best: String,
    next: String,
    difference: f64,
    interval: Option<Interval>,
    /// Corrected for the pairs that could have been the best and the next run.
    p_value: f64,
    /// How many runs have a value.
    runs: usize,
    /// The level of significance, such as 0.05.
    level: f64,
    is_significant: bool,
}

impl Lead {
    /// Compares the best run with the next. `None` if no measure has a winner.
    pub(crate) fn of_best<D: Domain>(
        comparison: &Comparison,
        runs: &[Titled<'_, D>],
        seed: u64,
    ) -> Option<Self> {
        let row = comparison.rows.iter().find(|row| row.winner.is_some())?;
        let place = row.winner?;
        let (best, next) = (&runs[place], &runs[next_best(row, place)?]);
        let test = PairedTest {
            seed,
            ..PairedTest::default()
        };
        let level = 1.0 - test.level;
        let runs = row.cells.iter().filter(|cell| cell.value().is_some());
        let runs = runs.count();
        // Both runs were chosen by their results, so the test counts as one of each pair (Bonferroni).
        let pairs = pairs(runs);
        let test = pairs.map_or(test, |pairs| test.resolving(level / pairs));
        let change = Change::between(next, best, test, |title| title == row.measure);
        let measure = change.measures.first()?;
        let found = measure.difference.as_ref()?;
        let tested = found.p_value?;
        let p_value = pairs.map_or(tested, |pairs| (tested * pairs).min(1.0));
        Some(Self {
            measure: row.title().to_owned(),
            place,
            best: best.title.to_owned(),
            next: next.title.to_owned(),
            difference: found.difference,
            interval: found.interval,
            p_value,
            runs,
            level,
            is_significant: measure.finding.verdict == Verdict::Better && p_value <= level,
        })
    }

    /// The p value, and what it is corrected for: `p = 0.4170, corrected for the 15 pairs of 6 runs`.
    fn tested(&self) -> String {
        let p_value = p_value(self.p_value);
        match pairs(self.runs) {
            Some(pairs) => format!(
                "{p_value}, corrected for the {pairs} pairs of {} runs",
                self.runs
            ),
            None => p_value,
        }
    }

    /// The lead as the end of a sentence about the best run: `its lead over bm25 in MRR@5 may be chance (p = 0.2900)`.
    pub(crate) fn clause(&self) -> String {
        let verdict = if self.is_significant {
            format!("is significant at {}", percent(self.level))
        } else {
            "may be chance".to_owned()
        };
        format!(
            "its lead over {} in {} {verdict} ({})",
            self.next,
            self.measure,
            self.tested()
        )
    }
}

impl fmt::Display for Lead {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = self.interval.map_or_else(String::new, |interval| {
            format!(" [{:.4}, {:.4}]", interval.low, interval.high)
        });
        let verdict = if self.is_significant {
            "significant"
        } else {
            "it may be chance"
        };
        write!(
            formatter,
            "{}: {} leads {} by {:.4}{interval}, {}: {verdict}",
            self.measure,
            self.best,
            self.next,
            self.difference,
            self.tested()
        )
    }
}

/// The number of pairs of more than two runs.
fn pairs(runs: usize) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a table has few runs")]
    (runs > 2).then(|| (runs * (runs - 1) / 2) as f64)
}

/// The column of the second best value.
fn next_best(row: &Row, best: usize) -> Option<usize> {
    let others = row.cells.iter().enumerate();
    let others = others.filter(|(place, _)| *place != best);
    let mut values: Vec<(usize, f64)> = others
        .filter_map(|(place, cell)| Some((place, cell.value()?)))
        .collect();
    values.sort_by(|(_, left), (_, right)| match row.better {
        Direction::Lower => left.total_cmp(right),
        Direction::Higher | Direction::Unknown => right.total_cmp(left),
    });
    values.first().map(|(place, _)| *place)
}
