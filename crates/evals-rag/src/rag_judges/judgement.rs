//! What a decomposed judge finds: outcomes, with the calls behind them.

use evals::{EvaluatorError, Outcome, TaskScope};

use crate::judging::{JudgeError, record_judged};
use crate::{Call, Purpose};

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
        let judged = record_judged(judged, |it| &it.calls, Purpose::Judge, scope)?;
        Ok(judged.outcomes)
    }
}
