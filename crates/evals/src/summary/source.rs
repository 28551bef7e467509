//! Which evaluator a measure comes from.

use serde::{Deserialize, Serialize};

use crate::{Direction, EvaluatorOrigin};

/// The evaluator behind a measure's title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasureSource {
    /// Name of the evaluator.
    pub evaluator: String,
    /// Which of the run's evaluators that is.
    pub origin: EvaluatorOrigin,
    /// What the evaluator calls the measure: the title, unless another evaluator's measure had it first. An evaluator that
    /// never returned anything has its own name here.
    pub outcome: String,
    /// Which direction of the measure is better. Unknown if the evaluator contradicts itself between cases.
    #[serde(default, skip_serializing_if = "Direction::is_higher")]
    pub better: Direction,
    /// What tables call the mean of the scores, where that is not the title; see [`Domain::mean_title`](crate::Domain::mean_title).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
}
