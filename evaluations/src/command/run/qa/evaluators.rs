//! What is said about every answer.

use std::sync::Arc;

use evals::Dataset;
use evals_rag::qa::{
    CitationPrecision, CiteRate, Equivalence, ExactMatch, NumberMatch, Qa, Refusal, RougeL, TokenF1,
};

use super::models::Judging;

/// Adds every evaluator to `dataset`, the headline first.
pub(crate) fn enrol(dataset: Dataset<Qa>, judging: &Judging) -> Dataset<Qa> {
    let refusal = match &judging.refusals {
        Some(judge) => Refusal::new().judge(judge.clone()),
        None => Refusal::new(),
    };
    dataset
        .evaluator(Equivalence::new(Arc::clone(&judging.judge)))
        .evaluator(refusal)
        .evaluator(CiteRate)
        .evaluator(CitationPrecision)
        .evaluator(ExactMatch)
        .evaluator(TokenF1)
        .evaluator(RougeL)
        .evaluator(NumberMatch)
}
