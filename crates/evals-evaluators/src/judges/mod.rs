//! Evaluators that ask a chat model: `LLMJudge` and `GEval`.
//!
//! They have the names, arguments and outcomes of pydantic-evals, with prompts of our own. A prompt shows input, output and
//! expected output between delimiters that none of them contains, and a verdict that could be copied from them does not count;
//! [`Inquiry`](evals_rag::judging::Inquiry) has the rules. What fails is a failure of the evaluator, never a verdict.

mod g_eval;
mod grade;
mod model;
mod numbers;
mod outcomes;
mod rubric;
#[cfg(test)]
mod tests;
mod verdict;
mod written;

pub(crate) use model::{JudgeModel, parameters as model_parameters, spec_without_credentials};

use crate::Entry;

/// The evaluators that ask a chat model.
pub(crate) fn entries() -> Vec<Entry> {
    vec![rubric::entry(), g_eval::entry()]
}
