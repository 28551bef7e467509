//! A measure of a snapshot.

use evals_metrics::{Measure, Scale};
use serde::{Deserialize, Serialize};

use crate::{Direction, MeasureSource, MeasureValues, Unit};

/// A measure of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnapshotMeasure {
    /// Its title in the report.
    pub title: String,
    /// The name of its mean in tables, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
    /// The unit of its values.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Direction,
    /// The evaluator that returns it; `None` for a metric that the task recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluator: Option<String>,
}

impl SnapshotMeasure {
    pub(super) fn new(values: &MeasureValues<'_>, source: Option<&MeasureSource>) -> Self {
        // A metric may have the name of a score.
        let source = source.filter(|_| values.unit != Unit::Metric);
        Self {
            title: values.title.clone(),
            mean_title: source.and_then(|source| source.mean_title.clone()),
            unit: values.unit,
            better: values.better,
            evaluator: source.map(|source| source.evaluator.clone()),
        }
    }

    /// The name of the measure's mean in tables.
    pub fn name(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.title)
    }

    /// The scale by its definition, whatever values it has. Every rank measure is from 0 to 1; other scores may be anything.
    pub(crate) fn defined_scale(&self) -> Scale {
        match self.unit {
            Unit::Score if self.title.parse::<Measure>().is_err() => Scale::Open,
            unit => unit.scale(),
        }
    }

    /// Whether it is the measure `other` of another report, whichever evaluator returns it there.
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.title == other.title && self.unit == other.unit
    }
}
