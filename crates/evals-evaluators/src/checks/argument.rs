//! Arguments of the types that checks need.

use serde_json::{Value, json};
use thiserror::Error;

use crate::{Arguments, Parameter};

/// An argument of the wrong type or with a value that means nothing.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{name}` must be {wanted}, not `{given}`")]
pub(super) struct ArgumentError {
    name: &'static str,
    wanted: &'static str,
    given: String,
}

impl ArgumentError {
    pub(super) fn new(name: &'static str, wanted: &'static str, given: &Value) -> Self {
        Self {
            name,
            wanted,
            given: given.to_string(),
        }
    }
}

/// A flag.
pub(super) fn flag(arguments: &Arguments, name: &'static str) -> Result<bool, ArgumentError> {
    let value = arguments.value(name);
    let wrong = || ArgumentError::new(name, "`true` or `false`", value);
    value.as_bool().ok_or_else(wrong)
}

/// A text.
pub(super) fn text(
    arguments: &Arguments,
    name: &'static str,
    wanted: &'static str,
) -> Result<String, ArgumentError> {
    let value = arguments.value(name);
    let wrong = || ArgumentError::new(name, wanted, value);
    Ok(value.as_str().ok_or_else(wrong)?.to_owned())
}

/// A list of texts.
pub(super) fn texts(
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

/// The parameter that says whether calls that failed count.
pub(super) fn include_failed(default: bool) -> Parameter {
    Parameter::optional(
        "include_failed",
        json!(default),
        json!({"type": "boolean"}),
        "Whether calls that ended in an error count too.",
    )
}
