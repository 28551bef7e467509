//! Comparison rows for service times.

use std::collections::BTreeMap;

use evals_metrics::Percentiles;

use super::measures::{Named, Summaries, names};
use super::row::{Cell, Row};
use crate::{Direction, Summary, Unit};

/// The stages that every report has, then the whole task.
///
/// A stage that only some reports have, such as one of a single search profile, has nothing to be compared with. A stage that all have is
/// only a part of the time, so it has no winner: a fast fusion would get one beside seconds of reranking. The whole task has.
pub(super) fn rows(summaries: Summaries<'_>) -> Vec<Row> {
    let stages = names(summaries, |summary| &summary.timings).into_iter();
    let stages = stages.filter_map(|stage| {
        let times = |summary: &Summary| {
            find(&summary.timings, stage).and_then(|times| Some((times.p50?, times.n)))
        };
        let cells = cells(summaries, times)?;
        let name = format!("{stage} p50");
        Some(Row::without_winner(
            name,
            Unit::Seconds,
            Direction::Lower,
            cells,
        ))
    });
    let task = |name: &str, pick: fn(&Percentiles) -> Option<f64>| {
        let times = |summary: &Summary| Some((pick(&summary.task_time)?, summary.task_time.n));
        let cells = cells(summaries, times)?;
        let name = name.to_owned();
        Some(Row::new(name, Unit::Seconds, Direction::Lower, cells))
    };
    let task_rows = [
        task("task (wall) p50", |times| times.p50),
        task("task (wall) p95", |times| times.p95),
    ];
    stages.chain(task_rows.into_iter().flatten()).collect()
}

/// Percentiles with their numbers of samples; `None` where any report lacks one.
fn cells(
    summaries: Summaries<'_>,
    times: impl Fn(&Summary) -> Option<(f64, usize)>,
) -> Option<Vec<Cell>> {
    let cell = |(value, n)| Cell::Value {
        value,
        interval: None,
        n,
        excluded: BTreeMap::new(),
    };
    summaries
        .iter()
        .map(|(_, summary)| times(summary).map(cell))
        .collect()
}

fn find<'a, T>(list: &'a Named<T>, name: &str) -> Option<&'a T> {
    list.iter()
        .find(|(candidate, _)| candidate == name)
        .map(|(_, value)| value)
}
