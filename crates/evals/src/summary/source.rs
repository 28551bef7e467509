//! The evaluator behind a measure.

use serde::{Deserialize, Serialize};

use crate::{Direction, EvaluatorOrigin};

/// The evaluator behind a measure's title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureSource {
    /// Name of the evaluator.
    pub evaluator: String,
    /// The evaluator's origin in the run.
    pub origin: EvaluatorOrigin,
    /// The name that the evaluator gave the measure: the title, unless another evaluator's measure had it first. For an
    /// evaluator that never returned anything, its own name.
    pub outcome: String,
    /// Which direction of the measure is better. Unknown if the evaluator's cases disagree.
    #[serde(default, skip_serializing_if = "Direction::is_higher")]
    pub better: Direction,
    /// The name of the mean in tables, where it differs from the title; see
    /// [`Domain::mean_title`](crate::Domain::mean_title).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
}
