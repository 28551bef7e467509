//! Several reports side by side.

mod accuracy;
mod latency;
mod measures;
mod row;

use evals_metrics::Mean;
use serde::{Deserialize, Serialize};

pub(crate) use measures::matched;
pub use row::{Cell, Row};

use crate::{ClusterCounts, Direction, SchemaVersion, Summary, Unit};
use measures::{Named, Summaries};

/// A table with one row for each measure and one column for each report.
///
/// Two reports share a measure when evaluators of the same name gave it the same name, even if its titles differ.
///
/// A row has a winner when at least two reports have a value over the same number of cases and one value is best after
/// rounding for print; values that print the same are a tie. A winner is not a significance test: look at the intervals for
/// that. Of times, only those of the whole task have a winner. They are wall times, which include other load and queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Version of this document's JSON schema, shared with [`Report`](crate::Report).
    pub schema_version: SchemaVersion,
    /// The columns.
    pub reports: Vec<ComparedReport>,
    /// Scores, assertions (with worst case, best case and coverage where a report has failures), metrics, then the latencies
    /// that all reports have. Each group is in first-seen order.
    pub rows: Vec<Row>,
}

/// One report of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparedReport {
    /// Title of the column.
    pub title: String,
    /// Finished cases, failed ones included.
    pub finished: usize,
    /// How many of them failed.
    pub failed: usize,
    /// How often an evaluator failed in one of them.
    #[serde(default)]
    pub evaluator_failures: usize,
    /// Cases that were not run, because the run ended early.
    pub not_run: usize,
    /// Why the run was stopped, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The clusters of its cases; see [`Summary::clusters`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<ClusterCounts>,
}

impl ComparedReport {
    pub(crate) fn new(title: &str, summary: &Summary) -> Self {
        Self {
            title: title.to_owned(),
            finished: summary.finished,
            failed: summary.failed,
            evaluator_failures: summary.evaluator_failures,
            not_run: summary.not_run,
            stopped: summary.stopped.clone(),
            clusters: summary.clusters.clone(),
        }
    }
}

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
        // A recorded metric has no known better direction: the reader decides whether more is better.
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
