//! What an evaluator would say of a case.

use crate::ValueKind;

/// An outcome that a case is to have, known before there is any output: its name and its kind.
///
/// See [`Evaluator::concerns`](crate::Evaluator::concerns).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concern {
    /// The outcome's name.
    pub outcome: String,
    /// What its value is where it is not undefined.
    pub kind: ValueKind,
}

impl Concern {
    /// Announces a check.
    pub fn assertion(outcome: impl Into<String>) -> Self {
        Self::of(outcome, ValueKind::Assertion)
    }

    /// Announces a number.
    pub fn score(outcome: impl Into<String>) -> Self {
        Self::of(outcome, ValueKind::Score)
    }

    /// Announces a class.
    pub fn label(outcome: impl Into<String>) -> Self {
        Self::of(outcome, ValueKind::Label)
    }

    fn of(outcome: impl Into<String>, kind: ValueKind) -> Self {
        Self {
            outcome: outcome.into(),
            kind,
        }
    }
}
