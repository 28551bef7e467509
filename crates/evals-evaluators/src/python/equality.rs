//! Python's `==`.

use std::cmp::Ordering;

use serde_json::Value;

/// Whether two values are equal in Python, where `1`, `1.0` and `True` are.
pub(crate) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Null, Value::Null) => true,
        (Value::String(one), Value::String(other)) => one == other,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        (one, other) => match (integer(one), integer(other)) {
            (Some(one), Some(other)) => one == other,
            (None, None) => {
                let floats = one.as_f64().zip(other.as_f64());
                floats.is_some_and(|(one, other)| one.partial_cmp(&other) == Some(Ordering::Equal))
            }
            _ => false,
        },
    }
}

/// The integer that a number is, without rounding, if it is one of up to 126 bits. Python counts truth values among the numbers.
fn integer(value: &Value) -> Option<i128> {
    const LIMIT: f64 = 8.507_059_173_023_462e37; // 2^126
    match value {
        Value::Bool(truth) => Some(i128::from(*truth)),
        Value::Number(number) => number.as_i128().or_else(|| {
            let float = number.as_f64()?;
            let is_integer = float.fract().partial_cmp(&0.0) == Some(Ordering::Equal);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "an integer within the limit is exact"
            )]
            (is_integer && float.abs() < LIMIT).then_some(float as i128)
        }),
        Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
