//! Evaluators that ask a chat model: `LLMJudge` and `GEval`.
//!
//! They have the names, arguments and outcomes of pydantic-evals, with prompts of our own. A prompt shows input, output and
//! expected output between delimiters that none of them contains, and a verdict that could be copied from them does not count;
//! [`Inquiry`](evals_rag::judging::Inquiry) has the rules. What fails is a failure of the evaluator, never a verdict.

mod g_eval;
mod grade;
mod model;
mod outcomes;
mod rubric;
#[cfg(test)]
mod tests;
mod verdict;

pub(crate) use model::{ModelArguments, opened, parameters as model_parameters};

use serde_json::Value;

use crate::Entry;

/// The evaluators that ask a chat model.
pub(crate) fn entries() -> [Entry; 2] {
    [rubric::entry(), g_eval::entry()]
}

/// A value as a judge reads it: a text as it is, any other value as compact JSON.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The same, or nothing for `null`.
fn present(value: Option<&Value>) -> Option<String> {
    value.filter(|value| !value.is_null()).map(written)
}
