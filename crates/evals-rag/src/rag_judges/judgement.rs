//! The result of a judge.

use evals::Outcome;

use crate::Call;

/// The outcomes of a judge with the calls behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// One for each of the measure's [outcomes](super::JudgedMeasure::outcomes).
    pub outcomes: Vec<Outcome>,
    /// The calls that this judge made. A list of claims counts for the judge that asked for it first.
    pub calls: Vec<Call>,
}
