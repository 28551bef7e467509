//! Python's rules for JSON values, where the evaluators of pydantic-evals show them: equality, and how values are printed.

mod equality;
mod pattern;
mod repr;
mod timedelta;

pub(crate) use equality::equal;
pub(crate) use pattern::{MatchPlace, Pattern, PatternError};
pub(crate) use repr::{repr, repr_text, repr_texts, text, truncated};
pub(crate) use timedelta::TimeDelta;

use serde_json::Value;

/// The name of the type that `json.loads` gives a value.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// A number as a float. Python counts truth values among the numbers.
pub(crate) fn number(value: &Value) -> Option<f64> {
    let truth = |truth| f64::from(u8::from(truth));
    value.as_f64().or(value.as_bool().map(truth))
}
