//! Numbers in the replies of models, which write them as numbers or as texts.

use serde::de::{Deserialize as _, Deserializer, Error as _};
use serde_json::Value;

/// Whole numbers up to this size are exact as floating-point numbers.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// A finite number.
pub(super) fn finite<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    number(&value).ok_or_else(|| D::Error::custom("not a number"))
}

/// A whole number: `4`, `4.0` and `"4"`, but not `4.5`.
pub(super) fn whole<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = number(&value).filter(|number| number.fract() == 0.0 && number.abs() < LARGEST);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a whole number within the limit is exact"
    )]
    number
        .map(|number| number as i64)
        .ok_or_else(|| D::Error::custom("not a whole number"))
}

fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    number.is_finite().then_some(number)
}
