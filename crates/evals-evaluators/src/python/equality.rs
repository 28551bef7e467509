//! Python's `==`.

use std::cmp::Ordering;

use serde_json::{Number, Value};

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
        (one, other) => match (Numeric::of(one), Numeric::of(other)) {
            (Some(one), Some(other)) => one.equals(other),
            _ => false,
        },
    }
}

/// A number or a truth value, which Python counts among the numbers.
#[derive(Clone, Copy)]
enum Numeric {
    Integer(i128),
    Float(f64),
}

impl Numeric {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(truth) => Some(Self::Integer(i128::from(*truth))),
            Value::Number(number) => Some(Self::of_number(number)),
            Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    fn of_number(number: &Number) -> Self {
        let integer = number.as_i128();
        integer.map_or_else(
            || Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            Self::Integer,
        )
    }

    /// Compares without rounding: 2^53 + 1 is not equal to the float 2^53.
    fn equals(self, other: Self) -> bool {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => one == other,
            (Self::Float(one), Self::Float(other)) => {
                one.partial_cmp(&other) == Some(Ordering::Equal)
            }
            (Self::Integer(integer), Self::Float(float))
            | (Self::Float(float), Self::Integer(integer)) => exact_integer(float) == Some(integer),
        }
    }
}

/// The integer that a float is, if it is one of up to 126 bits.
fn exact_integer(float: f64) -> Option<i128> {
    const LIMIT: f64 = 8.507_059_173_023_462e37; // 2^126
    let is_integer = float.fract().partial_cmp(&0.0) == Some(Ordering::Equal);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an integer within the limit is exact"
    )]
    (is_integer && float.abs() < LIMIT).then_some(float as i128)
}
