//! The values of a reply's fields, with their types checked.
//!
//! Each reader is given the field's name and returns what is wrong with the value as a message.

use std::collections::BTreeMap;
use std::time::Duration;

use evals_models::Usage;
use serde_json::{Map, Value};

use super::{kind, levels};
use crate::ToolCall;

/// The message of a field `error`; `None` if the field is null, false or an empty text, with which a system reports success.
pub(crate) fn error(value: &Value) -> Option<String> {
    match value {
        Value::Null | Value::Bool(false) => None,
        Value::String(message) => (!message.trim().is_empty()).then(|| message.clone()),
        other => Some(other.to_string()),
    }
}

/// An element of a list in messages.
pub(super) fn element(place: &str, index: usize) -> String {
    format!("element {index} of {place}")
}

/// A field of an object in messages.
pub(super) fn field(place: &str, name: &str) -> String {
    format!("`{name}` in {place}")
}

pub(super) fn text(place: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        other => Err(format!("{place} is {}, not a text", kind(other))),
    }
}

/// A text or a number, as ids and versions are.
pub(super) fn word(place: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(format!(
            "{place} is {}, not a text or a number",
            kind(other)
        )),
    }
}

pub(super) fn boolean(place: &str, value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| format!("{place} is {}, not true or false", kind(value)))
}

pub(super) fn number(place: &str, value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(number) => number
            .as_f64()
            .ok_or_else(|| format!("{place} is out of range")),
        Value::String(text) if is_not_finite(text) => {
            Err(format!("{place} is {text}, not a finite number"))
        }
        other => Err(format!("{place} is {}, not a number", kind(other))),
    }
}

/// A duration, of which `value` counts `unit`s.
pub(super) fn duration(place: &str, value: &Value, unit: Duration) -> Result<Duration, String> {
    let count = number(place, value)?;
    Duration::try_from_secs_f64(count * unit.as_secs_f64())
        .map_err(|_| format!("{place} is {count}, and a duration is not negative"))
}

pub(super) fn count(place: &str, value: &Value) -> Result<u64, String> {
    value
        .as_u64()
        .ok_or_else(|| format!("{place} is `{value}`, not a whole number of at least 0"))
}

pub(super) fn object<'r>(place: &str, value: &'r Value) -> Result<&'r Map<String, Value>, String> {
    value
        .as_object()
        .ok_or_else(|| format!("{place} is {}, not an object", kind(value)))
}

/// Tokens under `input_tokens` and `output_tokens`, or under the names of OpenAI's protocol. `None` unless both are there.
pub(super) fn usage(place: &str, value: &Value) -> Result<Option<Usage>, String> {
    let fields = object(place, value)?;
    let tokens = |names: [&str; 2]| {
        let found = names
            .iter()
            .find_map(|name| Some((name, fields.get(*name)?)));
        let found = found.filter(|(_, value)| !value.is_null());
        let counted = found.map(|(name, value)| count(&field(place, name), value));
        counted.transpose()
    };
    let input_tokens = tokens(["input_tokens", "prompt_tokens"])?;
    let output_tokens = tokens(["output_tokens", "completion_tokens"])?;
    Ok(input_tokens
        .zip(output_tokens)
        .map(|(input_tokens, output_tokens)| Usage {
            input_tokens,
            output_tokens,
            estimated: false,
        }))
}

/// Calls as `{"name", "arguments", "failed"}`, or as OpenAI's protocol writes them.
pub(super) fn tool_calls(place: &str, calls: &[&Value]) -> Result<Vec<ToolCall>, String> {
    let calls = calls.iter().enumerate();
    calls
        .map(|(index, call)| {
            let place = element(place, index);
            let fields = object(&place, call)?;
            let function = fields
                .get("function")
                .and_then(Value::as_object)
                .unwrap_or(fields);
            let name = function
                .get("name")
                .and_then(Value::as_str)
                .ok_or_else(|| format!("{place} has no `name`"))?;
            let failed = match fields.get("failed") {
                None | Some(Value::Null) => false,
                Some(failed) => boolean(&field(&place, "failed"), failed)?,
            };
            Ok(ToolCall {
                name: name.to_owned(),
                arguments: arguments(function.get("arguments")),
                failed,
            })
        })
        .collect()
}

/// Arguments as they are, or out of the text in which OpenAI's protocol sends them. JSON that nests too deep to be recorded stays a text.
fn arguments(written: Option<&Value>) -> Value {
    match written {
        Some(Value::String(text)) => {
            let read = serde_json::from_str(text).ok().filter(levels::fit);
            read.unwrap_or_else(|| Value::String(text.clone()))
        }
        Some(other) => other.clone(),
        None => Value::Null,
    }
}

/// Numbers by name. One that is not finite is kept, and is undefined in the report.
pub(super) fn metrics(place: &str, value: &Value) -> Result<BTreeMap<String, f64>, String> {
    let mut metrics = BTreeMap::new();
    for (name, value) in object(place, value)? {
        let value = match value {
            Value::Null => continue,
            Value::String(text) if is_not_finite(text) => text.parse().unwrap_or(f64::NAN),
            value => number(&field(place, name), value)?,
        };
        metrics.insert(name.clone(), value);
    }
    Ok(metrics)
}

/// Whether a text stands for a number that JSON does not have.
fn is_not_finite(text: &str) -> bool {
    matches!(text, "NaN" | "Infinity" | "-Infinity")
}
