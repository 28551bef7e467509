//! Values as a judge reads them.

use serde_json::Value;

/// A text as it is, any other value as compact JSON.
pub(super) fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The same, or nothing for `null`.
pub(super) fn present(value: Option<&Value>) -> Option<String> {
    value.filter(|value| !value.is_null()).map(written)
}
