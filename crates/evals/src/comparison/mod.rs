//! Several reports side by side.

mod accuracy;
mod latency;
mod measures;
mod row;

use evals_metrics::Mean;
use serde::{Deserialize, Serialize};

pub(crate) use measures::matched;
pub use row::{Cell, Row, Unit};

use crate::{Direction, SchemaVersion, Summary};

/// A table with one row for each measure and one column for each report.
///
/// Two reports have a measure in common when evaluators of one name call it alike, whatever its title is in either.
///
/// Names a winner where at least two reports have a value over equally many cases and one of them is best as printed; values
/// that are equal when rounded as printed are a tie. It does not say that a difference is more than chance: for that look at
/// the intervals. The time of the whole task has no winner: it is wall time, which other load and waiting for a turn are
/// part of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Version of this document's JSON shape; it counts with that of [`Report`](crate::Report).
    pub schema_version: SchemaVersion,
    /// The columns.
    pub reports: Vec<ComparedReport>,
    /// Scores, assertions (with their worst and best case and their coverage where a report had failures), metrics, then those latencies that all reports have; within these the order in which the
    /// reports first show them.
    pub rows: Vec<Row>,
}

/// One report of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedReport {
    /// Title of the column.
    pub title: String,
    /// Cases that came to their end, failed ones included.
    pub finished: usize,
    /// Of these, how many failed.
    pub failed: usize,
    /// Cases that were not run, because the run ended early.
    pub not_run: usize,
    /// Why the run was stopped, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
}

impl ComparedReport {
    pub(crate) fn new(title: &str, summary: &Summary) -> Self {
        Self {
            title: title.to_owned(),
            finished: summary.finished,
            failed: summary.failed,
            not_run: summary.not_run,
            stopped: summary.stopped.clone(),
        }
    }
}

type Named<T> = Vec<(String, T)>;
type Summaries<'a> = &'a [(&'a str, &'a Summary)];

impl Comparison {
    /// Puts summaries side by side, each under its title.
    pub fn new(summaries: &[(&str, &Summary)]) -> Self {
        let scores = mean_rows(summaries, Unit::Score, |summary| &summary.scores);
        let pass_rates = mean_rows(summaries, Unit::PassRate, |summary| &summary.assertions);
        let pass_rates = accuracy::beside(pass_rates, summaries);
        let metrics = mean_rows(summaries, Unit::Metric, |summary| &summary.metrics);
        let rows = scores.into_iter().chain(pass_rates).chain(metrics);
        let rows = rows.chain(latency::rows(summaries)).collect();
        Self {
            schema_version: SchemaVersion,
            reports: summaries
                .iter()
                .map(|(title, summary)| ComparedReport::new(title, summary))
                .collect(),
            rows,
        }
    }
}

fn mean_rows<'a>(
    summaries: Summaries<'a>,
    unit: Unit,
    means: impl Fn(&'a Summary) -> &'a Named<Mean>,
) -> Vec<Row> {
    let matched = measures::matched(summaries, means).into_iter();
    let rows = matched.map(|measure| {
        let cells = measure.values.iter();
        let cells = cells.map(|mean| mean.map_or(Cell::Missing, Cell::mean));
        // A recorded number is no judgement: whether more of it is better is for the reader to say.
        let better = match unit {
            Unit::Metric => Direction::Unknown,
            Unit::Score | Unit::PassRate | Unit::Share | Unit::Seconds => measure.better,
        };
        Row {
            mean_title: measure.mean_title.filter(|_| unit == Unit::Score),
            ..Row::new(measure.title, unit, better, cells.collect())
        }
    });
    rows.collect()
}
