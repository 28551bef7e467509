//! How many calls of chat models an evaluator makes, for estimates before a run.

use evals::{EvaluatorSpec, SpecArguments};
use evals_rag::rag_judges::JudgedMeasure;
use serde_json::Value;

use super::{decomposed, graded};

/// How many votes an evaluator that decides claim by claim, or by a rubric, asks for about each item: one, unless it has a panel or
/// repeats. `None` for other evaluators.
pub fn judge_votes(spec: &EvaluatorSpec) -> Option<usize> {
    if spec.name != graded::NAME {
        decomposed::measure(&spec.name)?;
    }
    let argument = |name: &str| match &spec.arguments {
        SpecArguments::Named(named) => named.get(name),
        SpecArguments::None | SpecArguments::Positional(_) => None,
    };
    let others = argument("panel")
        .and_then(Value::as_array)
        .map_or(0, Vec::len);
    let repeats = argument("repeats").and_then(Value::as_u64).unwrap_or(1);
    Some((others + 1).saturating_mul(usize::try_from(repeats).unwrap_or(usize::MAX)))
}

/// How many calls an evaluator that decides claim by claim, or by a rubric, makes for one case: with passages that fit into a request,
/// and without repaired replies. Evaluators that share claims list them once, so several make fewer. `None` for other evaluators.
pub fn judge_calls(spec: &EvaluatorSpec) -> Option<usize> {
    let votes = judge_votes(spec)?;
    let Some(measure) = decomposed::measure(&spec.name) else {
        return Some(votes);
    };
    let (lists, verdicts) = match measure {
        JudgedMeasure::Faithfulness
        | JudgedMeasure::AnswerRelevance
        | JudgedMeasure::ContextRecall
        | JudgedMeasure::Completeness
        | JudgedMeasure::Nuggets => (1, 1),
        JudgedMeasure::ContextPrecision
        | JudgedMeasure::CitationSupport
        | JudgedMeasure::Conversation => (0, 1),
        JudgedMeasure::FactualCorrectness => (2, 2),
    };
    Some(votes.saturating_mul(verdicts).saturating_add(lists))
}
