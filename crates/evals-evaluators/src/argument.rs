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
pub(crate) fn text(
    arguments: &Arguments,
    name: &'static str,
    wanted: &'static str,
) -> Result<String, ArgumentError> {
    let value = arguments.value(name);
    let wrong = || ArgumentError::new(name, wanted, value);
    Ok(value.as_str().ok_or_else(wrong)?.to_owned())
}

/// A text or `null`.
pub(crate) fn optional_text(
    arguments: &Arguments,
    name: &'static str,
    wanted: &'static str,
) -> Result<Option<String>, ArgumentError> {
    match arguments.value(name) {
        Value::Null => Ok(None),
        _ => text(arguments, name, wanted).map(Some),
    }
}

/// A list of texts.
pub(crate) fn texts(
    arguments: &Arguments,
    name: &'static str,
    wanted: &'static str,
) -> Result<Vec<String>, ArgumentError> {
    let value = arguments.value(name);
    let texts = value.as_array().and_then(|values| {
        let texts = values.iter().map(|value| value.as_str().map(str::to_owned));
        texts.collect()
    });
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

/// One of several words, each with what it stands for.
pub(crate) fn choice<T: Copy>(
    arguments: &Arguments,
    name: &'static str,
    choices: &[(&str, T)],
    wanted: &'static str,
) -> Result<T, ArgumentError> {
    let value = arguments.value(name);
    let chosen = value.as_str().and_then(|given| {
        let mut choices = choices.iter();
        choices.find(|(word, _)| *word == given)
    });
    chosen
        .map(|(_, meaning)| *meaning)
        .ok_or_else(|| ArgumentError::new(name, wanted, value))
}

/// A whole number.
pub(crate) fn whole_number(
    arguments: &Arguments,
    name: &'static str,
) -> Result<i64, ArgumentError> {
    let value = arguments.value(name);
    value
        .as_i64()
        .ok_or_else(|| ArgumentError::new(name, "a whole number", value))
}
