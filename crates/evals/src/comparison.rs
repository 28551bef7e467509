//! Several reports side by side.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use evals_metrics::{Interval, Mean, Percentiles};
use serde::{Deserialize, Serialize};

use crate::{SchemaVersion, Summary, number};

/// A table with one row for each measure and one column for each report.
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
    /// Scores, assertions, metrics, then those latencies that all reports have; within these the order in which the
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

/// One measure in all reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the measure; for a latency the stage and the percentile, as in `embed p50`.
    pub measure: String,
    /// What the numbers count.
    pub unit: Unit,
    /// Which end is better.
    pub better: Direction,
    /// One cell for each report.
    pub cells: Vec<Cell>,
    /// Which report is best, if a single one is.
    pub winner: Option<usize>,
}

/// What a row's numbers count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A score.
    Score,
    /// The share of passed assertions.
    PassRate,
    /// A number that the task recorded.
    Metric,
    /// Seconds.
    Seconds,
}

/// Which end of a measure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// More is better, as for scores and pass rates.
    Higher,
    /// Less is better, as for latencies.
    Lower,
    /// Neither is known to be better, as for recorded metrics; such a row has no winner.
    Unknown,
}

/// One measure in one report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// The report has a value.
    Value {
        /// The mean or percentile.
        value: f64,
        /// The confidence interval of a mean.
        interval: Option<Interval>,
        /// Over how many cases or samples.
        n: usize,
    },
    /// The report has the measure, but it is undefined.
    Undefined {
        /// Why, as far as it is known.
        reasons: Vec<String>,
    },
    /// The report does not have the measure at all.
    Missing,
}

type Named<T> = Vec<(String, T)>;

impl Comparison {
    /// Puts summaries side by side, each under its title.
    pub fn new(summaries: &[(&str, &Summary)]) -> Self {
        let mut rows = mean_rows(summaries, Unit::Score, Direction::Higher, |summary| {
            &summary.scores
        });
        rows.extend(mean_rows(
            summaries,
            Unit::PassRate,
            Direction::Higher,
            |summary| &summary.assertions,
        ));
        rows.extend(mean_rows(
            summaries,
            Unit::Metric,
            Direction::Unknown,
            |summary| &summary.metrics,
        ));
        rows.extend(latency_rows(summaries));
        Self {
            schema_version: SchemaVersion,
            reports: summaries
                .iter()
                .map(|(title, summary)| ComparedReport {
                    title: (*title).to_owned(),
                    finished: summary.finished,
                    failed: summary.failed,
                    not_run: summary.not_run,
                    stopped: summary.stopped.clone(),
                })
                .collect(),
            rows,
        }
    }
}

impl Row {
    fn new(measure: String, unit: Unit, better: Direction, cells: Vec<Cell>) -> Self {
        let winner = winner(unit, better, &cells);
        Self {
            winner,
            ..Self::without_winner(measure, unit, better, cells)
        }
    }

    fn without_winner(measure: String, unit: Unit, better: Direction, cells: Vec<Cell>) -> Self {
        Self {
            measure,
            unit,
            better,
            cells,
            winner: None,
        }
    }
}

impl Unit {
    /// Prints a value for people.
    pub(crate) fn print(self, value: f64) -> String {
        match self {
            Self::Score | Self::PassRate => number::score(value),
            Self::Metric => number::metric(value),
            Self::Seconds => number::duration(value),
        }
    }

    /// What a reader sees of a value, as a number.
    fn rounded(self, value: f64) -> f64 {
        match self {
            Self::Score | Self::PassRate => number::rounded_score(value),
            Self::Metric => value,
            Self::Seconds => number::rounded_duration(value),
        }
    }
}

fn mean_rows(
    summaries: &[(&str, &Summary)],
    unit: Unit,
    better: Direction,
    means: impl Fn(&Summary) -> &Named<Mean>,
) -> Vec<Row> {
    let row = |measure: String| {
        let cells = cells(summaries, |summary| {
            find(means(summary), &measure).map(mean)
        });
        Row::new(measure, unit, better, cells)
    };
    names(summaries, &means).into_iter().map(row).collect()
}

/// The stages that every report has, then the whole task.
///
/// A stage of some reports only, as of one search profile, has no counterpart to be quicker than.
fn latency_rows(summaries: &[(&str, &Summary)]) -> Vec<Row> {
    let stages = names(summaries, |summary| &summary.timings).into_iter();
    let stages = stages.filter_map(|stage| {
        let times = |summary: &Summary| {
            find(&summary.timings, &stage).and_then(|times| Some((times.p50?, times.n)))
        };
        let cells = latency_cells(summaries, times)?;
        let name = format!("{stage} p50");
        Some(Row::new(name, Unit::Seconds, Direction::Lower, cells))
    });
    let task = |name: &str, pick: fn(&Percentiles) -> Option<f64>| {
        let times = |summary: &Summary| Some((pick(&summary.task_time)?, summary.task_time.n));
        let cells = latency_cells(summaries, times)?;
        let name = name.to_owned();
        Some(Row::without_winner(
            name,
            Unit::Seconds,
            Direction::Lower,
            cells,
        ))
    };
    let task_rows = [
        task("task p50", |times| times.p50),
        task("task p95", |times| times.p95),
    ];
    stages.chain(task_rows.into_iter().flatten()).collect()
}

/// Percentiles with their numbers of samples; `None` where any report lacks one.
fn latency_cells(
    summaries: &[(&str, &Summary)],
    times: impl Fn(&Summary) -> Option<(f64, usize)>,
) -> Option<Vec<Cell>> {
    let cell = |(value, n)| Cell::Value {
        value,
        interval: None,
        n,
    };
    summaries
        .iter()
        .map(|(_, summary)| times(summary).map(cell))
        .collect()
}

fn cells(summaries: &[(&str, &Summary)], cell: impl Fn(&Summary) -> Option<Cell>) -> Vec<Cell> {
    summaries
        .iter()
        .map(|(_, summary)| cell(summary).unwrap_or(Cell::Missing))
        .collect()
}

fn mean(mean: &Mean) -> Cell {
    match mean.value.filter(|value| value.is_finite()) {
        Some(value) => Cell::Value {
            value,
            interval: mean
                .interval
                .filter(|interval| interval.low.is_finite() && interval.high.is_finite()),
            n: mean.n,
        },
        None => Cell::Undefined {
            reasons: mean.excluded.keys().cloned().collect(),
        },
    }
}

/// All names that occur, in first-seen order.
fn names<T>(summaries: &[(&str, &Summary)], list: impl Fn(&Summary) -> &Named<T>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let all = summaries
        .iter()
        .flat_map(|(_, summary)| list(summary))
        .map(|(name, _)| name);
    all.filter(|name| seen.insert(name.as_str()))
        .cloned()
        .collect()
}

fn find<'a, T>(list: &'a Named<T>, name: &str) -> Option<&'a T> {
    list.iter()
        .find(|(candidate, _)| candidate == name)
        .map(|(_, value)| value)
}

fn winner(unit: Unit, better: Direction, cells: &[Cell]) -> Option<usize> {
    let mut values: Vec<(usize, f64)> = cells
        .iter()
        .enumerate()
        .filter_map(|(i, cell)| Some((i, unit.rounded(cell.value()?))))
        .collect();
    // Means over different numbers of cases may differ for that alone.
    let mut sizes = cells.iter().filter_map(Cell::n);
    let first_size = sizes.next();
    if unit != Unit::Seconds && sizes.any(|size| Some(size) != first_size) {
        return None;
    }
    match better {
        Direction::Higher => values.sort_by(|(_, left), (_, right)| right.total_cmp(left)),
        Direction::Lower => values.sort_by(|(_, left), (_, right)| left.total_cmp(right)),
        Direction::Unknown => return None,
    }
    match values[..] {
        [(best, first), (_, second), ..] if !is_equal(first, second) => Some(best),
        _ => None,
    }
}

/// Unlike the order that numbers are sorted in, this takes both zeros for the same.
fn is_equal(left: f64, right: f64) -> bool {
    left.partial_cmp(&right).is_some_and(Ordering::is_eq)
}

impl Cell {
    /// Over how many cases or samples the value is, where there is one.
    pub fn n(&self) -> Option<usize> {
        match self {
            Self::Value { n, .. } => Some(*n),
            Self::Undefined { .. } | Self::Missing => None,
        }
    }

    /// The value, where there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value { value, .. } => Some(*value),
            Self::Undefined { .. } | Self::Missing => None,
        }
    }
}
