//! What is being noted down, before it is put together.

use std::collections::BTreeMap;

use crate::{Recording, Timing};

/// What one task or one evaluator noted down so far.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) timings: Vec<Timing>,
    pub(crate) metrics: BTreeMap<String, Metric>,
    pub(crate) attributes: BTreeMap<String, serde_json::Value>,
}

/// A number with what it does to the one that is already there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Metric {
    /// Takes its place.
    Is(f64),
    /// Is added to it.
    Adds(f64),
}

impl Notes {
    /// Adds to a number, whichever of the two it is.
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

/// The notes of a case put together: those of the task, then those of its evaluators.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) recording: Recording,
    /// Metrics that are not finite, with what they are instead. They are not in the recording.
    pub(crate) undefined: BTreeMap<String, String>,
}

impl Ledger {
    /// Adds notes to what is there: timings behind it, attributes in the place of those of the same name, metrics as each
    /// of them says. What is added to a number that is not finite changes nothing.
    pub(crate) fn add(&mut self, notes: Notes) {
        self.recording.timings.extend(notes.timings);
        self.recording.attributes.extend(notes.attributes);
        for (name, metric) in notes.metrics {
            self.add_metric(name, metric);
        }
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
