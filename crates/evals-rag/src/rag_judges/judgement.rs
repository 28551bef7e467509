//! The result of a judge.

use evals::{EvaluatorError, Outcome, TaskScope};

use crate::Call;
use crate::call::{self, Purpose};
use crate::judging::JudgeError;

/// The outcomes of a judge with the calls behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// One for each of the measure's [outcomes](super::JudgedMeasure::outcomes).
    pub outcomes: Vec<Outcome>,
    /// The calls that this judge made. A list of claims counts for the judge that asked for it first.
    pub calls: Vec<Call>,
}

impl Judgement {
    /// Records the calls of `judged` as those of [`Purpose::Judge`], and returns its outcomes.
    ///
    /// # Errors
    ///
    /// The judges gave no verdict. The calls that they made are recorded all the same.
    pub fn record(
        judged: Result<Self, JudgeError>,
        scope: &TaskScope,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        match judged {
            Ok(judgement) => {
                call::record(&judgement.calls, Purpose::Judge, scope);
                Ok(judgement.outcomes)
            }
            Err(error) => {
                call::record(&error.calls, Purpose::Judge, scope);
                Err(error.of_evaluator())
            }
        }
    }
}
