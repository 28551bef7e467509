//! The latency table.

use std::iter;

use evals_messages::visible::single_line;
use evals_metrics::Percentiles;

use super::glyphs::Glyphs;
use super::grid::{Align, Grid};
use crate::Summary;

/// The whole task. Unlike the stages, it is wall time, which includes queueing and retries.
const TASK: &str = "task (wall)";

/// Why a percentile is undefined.
const TOO_FEW_SAMPLES: &str = "too few samples for a percentile";

/// Stages, then the whole task, then stages whose result came from a cache. No rows when nothing was timed.
pub(super) fn grid(summary: &Summary, glyphs: &Glyphs) -> Grid {
    let stages = summary.timings.iter();
    let stages = stages.map(|(stage, times)| (single_line(stage), times));
    let task = &summary.task_time;
    let task = (task.n > 0).then(|| (TASK.to_owned(), task));
    let cached = summary.cached_timings.iter();
    let cached = cached.map(|(stage, times)| (format!("{} (cached)", single_line(stage)), times));
    of(
        &stages.chain(task).chain(cached).collect::<Vec<_>>(),
        glyphs,
    )
}

/// One row for each stage.
pub(super) fn stages(timings: &[(String, Percentiles)], glyphs: &Glyphs) -> Grid {
    let stages = timings.iter();
    let stages = stages.map(|(stage, times)| (single_line(stage), times));
    of(&stages.collect::<Vec<_>>(), glyphs)
}

/// Where percentiles are undefined, the mean still tells how long a stage takes.
fn of(stages: &[(String, &Percentiles)], glyphs: &Glyphs) -> Grid {
    let percentiles = |times: &Percentiles| [times.p50, times.p95, times.p99];
    let mut all = stages.iter().flat_map(|(_, times)| percentiles(times));
    let any_undefined = all.any(|time| time.is_none());
    let mean = any_undefined.then_some("mean").into_iter();
    let titles = mean.chain(["p50", "p95", "p99", "n"]);
    let titles = titles.map(|title| (title, Align::Right));
    let mut grid = Grid::new(iter::once(("Latency", Align::Left)).chain(titles));
    for (stage, times) in stages {
        let mean = any_undefined.then_some(times.mean).into_iter();
        let shown = mean.chain(percentiles(times));
        let shown = shown.map(|time| glyphs.shown(time, |seconds| glyphs.duration(seconds)));
        let cells = iter::once(stage.clone()).chain(shown);
        grid.push(cells.chain([times.n.to_string()]));
    }
    let note = any_undefined.then(|| format!("{} {TOO_FEW_SAMPLES}", glyphs.undefined));
    grid.notes.extend(note);
    grid
}
