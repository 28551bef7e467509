//! `ArgumentCorrectness`: whether a tool was called with the expected arguments.

use std::borrow::Cow;

use evals::{Context, EvaluatorError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::steps::{self, NO_SPANS, RecordedCall};
use crate::checks::check::{self, Check};
use crate::python::{equal, repr, repr_text};
use crate::{Entry, Finding, Parameter, Untyped};

/// Compares the arguments of one call of a tool with the expected ones.
#[derive(Debug, Deserialize)]
struct ArgumentCorrectness {
    tool_name: String,
    expected_arguments: Map<String, Value>,
    match_mode: MatchMode,
    /// `first`, `last`, or an index from 0. Any other value selects no call, which the reason says.
    occurrence: Value,
    include_failed: bool,
}

/// Whether a call may have further arguments.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum MatchMode {
    Exact,
    Subset,
}

pub(super) fn entry() -> Entry {
    check::lenient::<ArgumentCorrectness>(
        "ArgumentCorrectness",
        "Passes if the agent called a tool with the expected arguments.",
        [
            Parameter::text("tool_name", "The name of the tool."),
            Parameter::required(
                "expected_arguments",
                json!({"type": "object"}),
                "The arguments by name, each compared as a whole.",
            ),
            Parameter::choice(
                "match_mode",
                "subset",
                &["exact", "subset"],
                "`subset`: the call may have further arguments. `exact`: it may not.",
            ),
            Parameter::optional(
                "occurrence",
                json!("first"),
                json!({"anyOf": [{"enum": ["first", "last"]}, {"type": "integer", "minimum": 0}]}),
                "Which call of the tool counts: `first`, `last`, or an index from 0.",
            ),
            steps::include_failed(false),
            Parameter::evaluation_name(),
        ],
    )
}

impl Check for ArgumentCorrectness {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let Some(spans) = steps::spans(context) else {
            return Ok(Finding::failed(NO_SPANS));
        };
        let tool = repr_text(&self.tool_name);
        let mut calls = steps::tool_calls(spans, self.include_failed);
        calls.retain(|call| call.name == self.tool_name);
        if calls.is_empty() {
            return Ok(Finding::failed(format!(
                "No calls to tool {tool} were recorded."
            )));
        }
        let Some(call) = self.select(&calls) else {
            return Ok(Finding::failed(format!(
                "Tool {tool} was called {} time(s); occurrence={} does not select any of them (must be 'first', 'last', or \
                 a 0-based index; negative ints are not supported).",
                calls.len(),
                repr(&self.occurrence)
            )));
        };
        let Some(recorded) = call.arguments else {
            return Ok(Finding::failed(format!(
                "Tool {tool} arguments not available in span (`include_content` may be disabled)."
            )));
        };
        let arguments = match recorded {
            Value::String(text) => serde_json::from_str(text).map(Cow::Owned),
            object => Ok(Cow::Borrowed(object)),
        };
        Ok(match arguments {
            Ok(arguments) => self.compare(&tool, &arguments),
            Err(error) => Finding::failed(format!(
                "Tool {tool} arguments could not be parsed as JSON: {error}"
            )),
        })
    }
}

impl ArgumentCorrectness {
    fn select<'a>(&self, calls: &[RecordedCall<'a>]) -> Option<RecordedCall<'a>> {
        let index = match &self.occurrence {
            Value::String(word) if word == "first" => 0,
            Value::String(word) if word == "last" => calls.len() - 1,
            // Python counts truth values among the integers.
            Value::Bool(truth) => usize::from(*truth),
            Value::Number(number) => usize::try_from(number.as_u64()?).ok()?,
            Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        calls.get(index).copied()
    }

    fn compare(&self, tool: &str, arguments: &Value) -> Finding {
        let Value::Object(actual) = arguments else {
            return Finding::failed(format!(
                "Tool {tool} arguments are not a JSON object: {}",
                repr(arguments)
            ));
        };
        let mut differences: Vec<String> = Vec::new();
        for (name, wanted) in &self.expected_arguments {
            let shown = repr_text(name);
            match actual.get(name) {
                None => differences.push(format!("missing key {shown}")),
                Some(given) if !equal(given, wanted) => {
                    let [wanted, given] = [wanted, given].map(repr);
                    differences.push(format!("key {shown}: expected {wanted}, got {given}"));
                }
                Some(_) => {}
            }
        }
        if self.match_mode == MatchMode::Exact {
            let further = actual
                .iter()
                .filter(|(name, _)| !self.expected_arguments.contains_key(*name));
            differences.extend(further.map(|(name, given)| {
                format!(
                    "unexpected key {} with value {}",
                    repr_text(name),
                    repr(given)
                )
            }));
        }
        if differences.is_empty() {
            return Finding::passed(true);
        }
        Finding::failed(format!(
            "Tool {tool} argument mismatch: {}",
            differences.join("; ")
        ))
    }
}
