//! What a failure kept evaluators from saying.

use serde::{Deserialize, Serialize};

use crate::{Direction, EvaluatorOrigin, ValueKind};

/// What an evaluator would have said of a case, had nothing failed, as it [declares](crate::Evaluator::concerns) without an
/// output. An empty list says that none of its outcomes is about the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// Name of the evaluator.
    pub evaluator: String,
    /// Which of the run's evaluators that is.
    #[serde(default)]
    pub origin: EvaluatorOrigin,
    /// The outcomes, in the evaluator's order.
    pub outcomes: Vec<MissedOutcome>,
}

/// An outcome that a failure left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedOutcome {
    /// Names the measure as [`CaseOutcome::name`](crate::CaseOutcome::name) does.
    pub name: String,
    /// What its evaluator calls it, where that is another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// What its value would have been.
    pub kind: ValueKind,
    /// Which end of the measure is better.
    #[serde(default, skip_serializing_if = "Direction::is_higher")]
    pub better: Direction,
}
