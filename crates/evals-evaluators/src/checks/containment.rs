//! `Contains`: whether the output contains a value.

use evals::{Context, EvaluatorError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::check::{self, Check};
use crate::python::{equal, repr, repr_text, text, truncated, type_name};
use crate::{Entry, Finding, Parameter, Untyped};

/// Reasons show at most this many characters of a value, of a whole output and of a key.
const SHOWN_VALUE: usize = 100;
const SHOWN_OUTPUT: usize = 200;
const SHOWN_KEY: usize = 30;

/// Searches the output for a value as Python's `in` does; an object contains another one if it has all its members.
#[derive(Debug, Deserialize)]
struct Contains {
    value: Value,
    case_sensitive: bool,
    as_strings: bool,
}

pub(super) fn entry() -> Entry {
    check::lenient::<Contains>(
        "Contains",
        "Passes if the output contains a value: a text in a text, an item of a list, a key or the members of an object.",
        [
            Parameter::required("value", json!(true), "The value to search for."),
            Parameter::flag(
                "case_sensitive",
                true,
                "Whether case counts when a text is searched for in a text.",
            ),
            Parameter::flag(
                "as_strings",
                false,
                "Whether output and value are compared as texts even if they are not texts.",
            ),
            Parameter::evaluation_name(),
        ],
    )
}

impl Check for Contains {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let output = context.output;
        let searched = if self.as_strings || (self.value.is_string() && output.is_string()) {
            self.text_in(output)
        } else {
            match output {
                Value::Object(members) => self.members_in(members, output),
                Value::Array(items) => self.item_in(items, output),
                Value::String(_) => Err(failed(&format!(
                    "'in <string>' requires string as left operand, not {}",
                    type_name(&self.value)
                ))),
                Value::Null | Value::Bool(_) | Value::Number(_) => Err(failed(&format!(
                    "argument of type '{}' is not iterable",
                    type_name(output)
                ))),
            }
        };
        Ok(searched.map_or_else(Finding::failed, |()| Finding::passed(true)))
    }
}

impl Contains {
    fn text_in(&self, output: &Value) -> Result<(), String> {
        let (mut output, mut value) = (text(output), text(&self.value));
        if !self.case_sensitive {
            (output, value) = (output.to_lowercase(), value.to_lowercase());
        }
        if output.contains(&value) {
            return Ok(());
        }
        let [output, value] = [output, value].map(|text| truncated(repr_text(&text), SHOWN_VALUE));
        Err(format!(
            "Output string {output} does not contain expected string {value}"
        ))
    }

    fn members_in(&self, members: &Map<String, Value>, output: &Value) -> Result<(), String> {
        let is_key = match &self.value {
            Value::Object(expected) => return compare(members, expected),
            Value::Array(_) => return Err(failed("unhashable type: 'list'")),
            Value::String(key) => members.contains_key(key),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        };
        if is_key {
            return Ok(());
        }
        let output = truncated(repr(output), SHOWN_OUTPUT);
        Err(format!(
            "Output {output} does not contain provided value as a key"
        ))
    }

    fn item_in(&self, items: &[Value], output: &Value) -> Result<(), String> {
        if items.iter().any(|item| equal(item, &self.value)) {
            return Ok(());
        }
        let output = truncated(repr(output), SHOWN_OUTPUT);
        Err(format!("Output {output} does not contain provided value"))
    }
}

/// The first member of `expected` that `members` does not have is the reason.
fn compare(members: &Map<String, Value>, expected: &Map<String, Value>) -> Result<(), String> {
    for (key, expected) in expected {
        let shown_key = || truncated(repr_text(key), SHOWN_KEY);
        let Some(found) = members.get(key) else {
            return Err(format!(
                "Output does not contain expected key {}",
                shown_key()
            ));
        };
        if !equal(found, expected) {
            let [found, expected] =
                [found, expected].map(|value| truncated(repr(value), SHOWN_VALUE));
            return Err(format!(
                "Output has different value for key {}: {found} != {expected}",
                shown_key()
            ));
        }
    }
    Ok(())
}

/// The reason where Python raises an error.
fn failed(error: &str) -> String {
    format!("Containment check failed: {error}")
}
