//! Arguments of the types that checks need.

use serde_json::Value;
use thiserror::Error;

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
