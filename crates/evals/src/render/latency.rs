//! The rows of the latency table.

use evals_messages::visible::single_line;
use evals_metrics::Percentiles;

use super::glyphs::Glyphs;
use crate::Summary;

/// One printed row.
#[derive(Debug)]
pub(super) struct LatencyRow {
    pub(super) stage: String,
    mean: Option<String>,
    /// Median, 95th and 99th percentile; `None` where there are too few samples.
    percentiles: [Option<String>; 3],
    pub(super) n: usize,
}

/// The whole task. Unlike the stages, it is wall time, which includes queueing and retries.
const TASK: &str = "task (wall)";

/// Why a percentile is undefined.
pub(super) const TOO_FEW_SAMPLES: &str = "too few samples for a percentile";

/// Stages, then the whole task, then stages whose result came from a cache. Empty when nothing was timed.
pub(super) fn rows(summary: &Summary, glyphs: &Glyphs) -> Vec<LatencyRow> {
    let mut rows = stages(&summary.timings, glyphs);
    if summary.task_time.n > 0 {
        rows.push(row(TASK.to_owned(), &summary.task_time, glyphs));
    }
    let cached = summary.cached_timings.iter();
    rows.extend(
        cached.map(|(stage, times)| row(format!("{} (cached)", single_line(stage)), times, glyphs)),
    );
    rows
}

/// One row for each stage.
pub(super) fn stages(timings: &[(String, Percentiles)], glyphs: &Glyphs) -> Vec<LatencyRow> {
    let stages = timings.iter();
    stages
        .map(|(stage, times)| row(single_line(stage), times, glyphs))
        .collect()
}

fn row(stage: String, times: &Percentiles, glyphs: &Glyphs) -> LatencyRow {
    let shown = |time: Option<f64>| time.map(|seconds| glyphs.duration(seconds));
    LatencyRow {
        stage,
        mean: shown(times.mean),
        percentiles: [times.p50, times.p95, times.p99].map(shown),
        n: times.n,
    }
}

impl LatencyRow {
    /// The times under the [`titles`].
    pub(super) fn times(self, with_mean: bool) -> impl Iterator<Item = Option<String>> {
        let mean = with_mean.then_some(self.mean);
        mean.into_iter().chain(self.percentiles)
    }
}

/// The titles of the times. Where percentiles are undefined, the mean still tells how long a stage takes.
pub(super) fn titles(with_mean: bool) -> impl Iterator<Item = &'static str> {
    let mean = with_mean.then_some("mean");
    mean.into_iter().chain(["p50", "p95", "p99"])
}

/// Whether any percentile of the rows is undefined.
pub(super) fn any_undefined(rows: &[LatencyRow]) -> bool {
    rows.iter()
        .flat_map(|row| &row.percentiles)
        .any(Option::is_none)
}
