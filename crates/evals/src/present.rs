//! Finds values that JSON writes as `null`, which would read back as `None`.

use std::panic::{self, AssertUnwindSafe};

use serde::Serialize;
use serde_json::Value;

/// Turns a value that JSON writes as `null` into `None`.
pub(crate) fn present<T: Serialize>(value: Option<T>) -> Option<T> {
    value.filter(|value| !is_null(value))
}

fn is_null(value: &impl Serialize) -> bool {
    // A value that panics here panics again when the report is written, where the error belongs.
    let written = panic::catch_unwind(AssertUnwindSafe(|| serde_json::to_value(value)));
    matches!(written, Ok(Ok(Value::Null)))
}
