//! Recordings of tasks and evaluators: stage timings, metrics, attributes.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Span, SpanTree};

/// The service time of one stage of a task, such as a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Names the stage.
    pub stage: String,
    /// How long the stage took, without queueing and retries.
    #[serde(rename = "seconds", with = "crate::json::seconds")]
    pub duration: Duration,
    /// Whether the stage's result came from a cache. Its duration is then that of the original call, and is aggregated
    /// separately.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

/// The timings, metrics, attributes and spans of one run of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Stage timings, in the order they were recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timings: Vec<Timing>,
    /// Named numbers, such as token counts.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        serialize_with = "crate::json::finite::serialize_all"
    )]
    pub metrics: BTreeMap<String, f64>,
    /// Other facts, as JSON values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, serde_json::Value>,
    /// The steps of the task, such as calls of models and tools; `None` if the task does not record its steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spans: Option<SpanTree>,
}

impl Recording {
    /// A recording without entries.
    pub const EMPTY: &Self = &Self {
        timings: Vec::new(),
        metrics: BTreeMap::new(),
        attributes: BTreeMap::new(),
        spans: None,
    };
}

/// The recording of one task or one evaluator so far.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) timings: Vec<Timing>,
    pub(crate) metrics: BTreeMap<String, Metric>,
    pub(crate) attributes: BTreeMap<String, serde_json::Value>,
    /// Finished spans; `None` if none were recorded.
    pub(crate) spans: Option<Vec<Span>>,
    /// How much of the time since the task began was not its own.
    pub(crate) left_out: Duration,
    /// The time of the task, in place of the time since it began.
    pub(crate) took: Option<Duration>,
}

/// A number that replaces an earlier one of the same name or is added to it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Metric {
    /// Replaces the earlier number.
    Is(f64),
    /// Is added to the earlier number.
    Adds(f64),
}

impl Notes {
    /// Adds to a number, whether it replaces or adds.
    pub(crate) fn add_metric(&mut self, name: String, value: f64) {
        let metric = self.metrics.entry(name).or_insert(Metric::Adds(0.0));
        *metric = metric.plus(value);
    }
}

impl Metric {
    fn plus(self, value: f64) -> Self {
        match self {
            Self::Is(base) => Self::Is(base + value),
            Self::Adds(base) => Self::Adds(base + value),
        }
    }

    fn onto(self, base: Option<f64>) -> f64 {
        match self {
            Self::Is(value) => value,
            Self::Adds(value) => base.unwrap_or(0.0) + value,
        }
    }
}

/// The merged notes of a case: those of the task, then those of its evaluators.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) recording: Recording,
    /// Metrics that are not finite, each with its value as text. They are not in the recording.
    pub(crate) undefined: BTreeMap<String, String>,
}

impl Ledger {
    /// Merges notes in: timings and spans are appended, attributes replace those of the same name, metrics replace or add. Adding to a
    /// number that is not finite changes nothing.
    pub(crate) fn add(&mut self, notes: Notes) {
        self.recording.timings.extend(notes.timings);
        self.recording.attributes.extend(notes.attributes);
        if let Some(spans) = notes.spans {
            let tree = self.recording.spans.get_or_insert_default();
            tree.roots.extend(spans);
        }
        for (name, metric) in notes.metrics {
            self.add_metric(name, metric);
        }
    }

    /// Moves metrics that are not finite out of the recording.
    pub(crate) fn sift(&mut self) {
        for (name, value) in &self.recording.metrics {
            if !value.is_finite() {
                let reason = format!("not finite: {value}");
                self.undefined.insert(name.clone(), reason);
            }
        }
        self.recording.metrics.retain(|_, value| value.is_finite());
    }

    fn add_metric(&mut self, name: String, metric: Metric) {
        if matches!(metric, Metric::Adds(_)) && self.undefined.contains_key(&name) {
            return;
        }
        let value = metric.onto(self.recording.metrics.get(&name).copied());
        if value.is_finite() {
            self.undefined.remove(&name);
            self.recording.metrics.insert(name, value);
        } else {
            self.recording.metrics.remove(&name);
            self.undefined.insert(name, format!("not finite: {value}"));
        }
    }
}
