//! The history as JSON.

use evals_metrics::Interval;
use serde::Serialize;

use super::drop::Check;
use super::line::{Line, Point};

/// The version of the JSON.
const VERSION: u32 = 1;

/// All lines with their histories.
#[derive(Debug, Serialize)]
pub(super) struct Document<'l> {
    schema_version: u32,
    lines: Vec<LineObject<'l>>,
    /// What `--fail-on-drop` found.
    #[serde(skip_serializing_if = "<[Check]>::is_empty")]
    checks: &'l [Check],
}

#[derive(Debug, Serialize)]
struct LineObject<'l> {
    dataset: &'l str,
    questions: usize,
    data: &'l str,
    benchmark: &'l str,
    profile: &'l str,
    measure: &'l str,
    level_changes: Vec<ChangeObject<'l>>,
    /// The p value of the most likely change.
    #[serde(skip_serializing_if = "Option::is_none")]
    p_value: Option<f64>,
    /// Why the test has no result.
    #[serde(skip_serializing_if = "Option::is_none")]
    undefined: Option<String>,
    history: Vec<PointObject<'l>>,
}

#[derive(Debug, Serialize)]
struct ChangeObject<'l> {
    /// The first run after the change.
    run: &'l str,
    before: f64,
    after: f64,
    p_value: f64,
    method: &'static str,
}

#[derive(Debug, Serialize)]
struct PointObject<'l> {
    run: &'l str,
    started: Option<&'l str>,
    /// The version of the system under test.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'l str>,
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undefined: Option<&'l str>,
    interval: Option<Interval>,
    n: Option<usize>,
    changed: &'l [String],
}

impl<'l> Document<'l> {
    pub(super) fn of(lines: &'l [Line<'l>], checks: &'l [Check]) -> Self {
        Self {
            schema_version: VERSION,
            lines: lines.iter().map(object).collect(),
            checks,
        }
    }
}

fn object<'l>(line: &'l Line<'l>) -> LineObject<'l> {
    let found = line.changes.as_ref();
    let changes = found.map(|it| it.found.as_slice()).unwrap_or_default();
    LineObject {
        dataset: line.dataset,
        questions: line.questions,
        data: &line.data,
        benchmark: line.benchmark,
        profile: line.profile,
        measure: line.measure.title(),
        level_changes: changes
            .iter()
            .map(|change| ChangeObject {
                run: &line.points[change.place].run,
                before: change.means[0],
                after: change.means[1],
                p_value: change.p_value,
                method: "pettitt",
            })
            .collect(),
        p_value: found.ok().map(|it| it.p_value),
        undefined: found.err().map(ToString::to_string),
        history: line.points.iter().map(point).collect(),
    }
}

fn point(point: &Point) -> PointObject<'_> {
    PointObject {
        run: &point.run,
        started: point.started.as_deref(),
        version: point.version.as_deref(),
        value: point.value.as_ref().ok().copied(),
        undefined: point.value.as_ref().err().map(String::as_str),
        interval: point.interval,
        n: point.n,
        changed: &point.changed,
    }
}
