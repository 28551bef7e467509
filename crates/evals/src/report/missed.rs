//! Outcomes that are missing because of a failure.

use serde::{Deserialize, Serialize};

use crate::{Direction, EvaluatorOrigin, ValueKind};

/// The outcomes of one evaluator that a failure prevented, as the evaluator [declares](crate::Evaluator::concerns) them. An
/// empty list means that it has no outcomes for the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// Name of the evaluator.
    pub evaluator: String,
    /// The evaluator's origin in the run.
    #[serde(default)]
    pub origin: EvaluatorOrigin,
    /// The outcomes, in the evaluator's order.
    pub outcomes: Vec<MissedOutcome>,
}

/// An outcome that a failure prevented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedOutcome {
    /// Names the measure as [`CaseOutcome::name`](crate::CaseOutcome::name) does.
    pub name: String,
    /// The name that its evaluator gives it, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// The kind that its value would have had.
    pub kind: ValueKind,
    /// Which direction of the measure is better.
    #[serde(default, skip_serializing_if = "Direction::is_higher")]
    pub better: Direction,
}
