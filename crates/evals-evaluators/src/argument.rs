//! Arguments read as the types that evaluators need.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::Arguments;

/// An argument of the wrong type, or with a value that means nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{name}` must be {wanted}, not `{given}`")]
pub(crate) struct ArgumentError {
    name: &'static str,
    wanted: &'static str,
    given: String,
}

impl ArgumentError {
    pub(crate) fn new(name: &'static str, wanted: &'static str, given: &Value) -> Self {
        Self {
            name,
            wanted,
            given: given.to_string(),
        }
    }
}

/// A flag.
pub(crate) fn flag(arguments: &Arguments, name: &'static str) -> Result<bool, ArgumentError> {
    let value = arguments.value(name);
    let wrong = || ArgumentError::new(name, "`true` or `false`", value);
    value.as_bool().ok_or_else(wrong)
}

/// A text.
pub(crate) fn text<'a>(
    arguments: &'a Arguments,
    name: &'static str,
    wanted: &'static str,
) -> Result<&'a str, ArgumentError> {
    let value = arguments.value(name);
    value
        .as_str()
        .ok_or_else(|| ArgumentError::new(name, wanted, value))
}

/// A text or `null`.
pub(crate) fn optional_text<'a>(
    arguments: &'a Arguments,
    name: &'static str,
    wanted: &'static str,
) -> Result<Option<&'a str>, ArgumentError> {
    match arguments.value(name) {
        Value::Null => Ok(None),
        _ => text(arguments, name, wanted).map(Some),
    }
}

/// A list of texts.
pub(crate) fn texts<'a>(
    arguments: &'a Arguments,
    name: &'static str,
    wanted: &'static str,
) -> Result<Vec<&'a str>, ArgumentError> {
    let value = arguments.value(name);
    let texts = value
        .as_array()
        .and_then(|values| values.iter().map(Value::as_str).collect());
    texts.ok_or_else(|| ArgumentError::new(name, wanted, value))
}

/// An object or `null`.
pub(crate) fn optional_object<'a>(
    arguments: &'a Arguments,
    name: &'static str,
    wanted: &'static str,
) -> Result<Option<&'a Map<String, Value>>, ArgumentError> {
    match arguments.value(name) {
        Value::Null => Ok(None),
        Value::Object(object) => Ok(Some(object)),
        other => Err(ArgumentError::new(name, wanted, other)),
    }
}
