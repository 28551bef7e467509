//! `ArgumentCorrectness`: whether a tool was called with the expected arguments.

use std::borrow::Cow;

use evals::{Context, EvaluatorError, ValueKind};
use serde_json::{Map, Value, json};

use super::steps::{self, NO_SPANS, ToolCall};
use crate::argument::{self, ArgumentError};
use crate::checks::check::{self, Check};
use crate::python::{equal, json_error, repr, repr_text};
use crate::{Arguments, Entry, Finding, Parameter, Untyped};

/// Compares the arguments of one call of a tool with the expected ones.
#[derive(Debug)]
struct ArgumentCorrectness {
    tool: String,
    expected: Map<String, Value>,
    /// Whether the call may have no other arguments.
    exact: bool,
    /// `first`, `last`, or an index from 0. Any other value selects no call, which the reason says.
    occurrence: Value,
    include_failed: bool,
}

pub(super) fn entry() -> Entry {
    check::lenient(
        "ArgumentCorrectness",
        "Passes if the agent called a tool with the expected arguments.",
        [
            Parameter::required(
                "tool_name",
                json!({"type": "string"}),
                "The name of the tool.",
            ),
            Parameter::required(
                "expected_arguments",
                json!({"type": "object"}),
                "The arguments by name, each compared as a whole.",
            ),
            Parameter::optional(
                "match_mode",
                json!("subset"),
                json!({"enum": ["exact", "subset"]}),
                "`subset`: the call may have further arguments. `exact`: it may not.",
            ),
            Parameter::optional(
                "occurrence",
                json!("first"),
                json!({"anyOf": [{"enum": ["first", "last"]}, {"type": "integer", "minimum": 0}]}),
                "Which call of the tool counts: `first`, `last`, or an index from 0.",
            ),
            steps::include_failed(false),
            check::evaluation_name(),
        ],
        read,
    )
}

fn read(arguments: &Arguments) -> Result<ArgumentCorrectness, ArgumentError> {
    let expected = arguments.value("expected_arguments");
    let modes = [("exact", true), ("subset", false)];
    let object = || ArgumentError::new("expected_arguments", "an object", expected);
    Ok(ArgumentCorrectness {
        tool: argument::text(arguments, "tool_name", "the name of a tool")?,
        expected: expected.as_object().ok_or_else(object)?.clone(),
        exact: argument::choice(arguments, "match_mode", &modes, "`exact` or `subset`")?,
        occurrence: arguments.value("occurrence").clone(),
        include_failed: argument::flag(arguments, "include_failed")?,
    })
}

impl Check for ArgumentCorrectness {
    const KIND: ValueKind = ValueKind::Assertion;

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let Some(spans) = steps::spans(context) else {
            return Ok(Finding::failed(NO_SPANS));
        };
        let tool = repr_text(&self.tool);
        let mut calls = steps::tool_calls(spans, self.include_failed);
        calls.retain(|call| call.name == self.tool);
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
        Ok(match parsed(recorded)? {
            Err(mistake) => Finding::failed(format!(
                "Tool {tool} arguments could not be parsed as JSON: {mistake}"
            )),
            Ok(arguments) => self.compare(&tool, &arguments),
        })
    }
}

/// Reads recorded arguments: the inner error is a mistake in the text, in Python's words; the outer one means that only
/// Python could read it.
fn parsed(recorded: &Value) -> Result<Result<Cow<'_, Value>, String>, EvaluatorError> {
    let Value::String(text) = recorded else {
        return Ok(Ok(Cow::Borrowed(recorded)));
    };
    match serde_json::from_str(text) {
        Ok(arguments) => Ok(Ok(Cow::Owned(arguments))),
        Err(error) => json_error(text).map(Err).ok_or_else(|| {
            EvaluatorError::new(format!("the tool's arguments are no JSON: {error}"))
        }),
    }
}

impl ArgumentCorrectness {
    fn select<'a>(&self, calls: &[ToolCall<'a>]) -> Option<ToolCall<'a>> {
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
        for (name, wanted) in &self.expected {
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
        if self.exact {
            let further = actual
                .iter()
                .filter(|(name, _)| !self.expected.contains_key(*name));
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
