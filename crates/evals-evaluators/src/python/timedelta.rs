//! Python's `timedelta`, which counts whole microseconds.

use serde::Deserialize;
use serde_json::Value;

use super::number;

/// More seconds than this overflow a `timedelta`.
const MOST_SECONDS: f64 = 86_400.0 * 1e9;

/// A length of time in microseconds, rounded as Python's `timedelta` rounds seconds. A truth value counts as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct TimeDelta(i64);

impl TimeDelta {
    /// This many seconds; `None` if Python has no such `timedelta`.
    pub(crate) fn seconds(seconds: f64) -> Option<Self> {
        if seconds.is_nan() || seconds.abs() >= MOST_SECONDS {
            return None;
        }
        let micros = (seconds.fract() * 1e6).round_ties_even();
        #[expect(
            clippy::cast_possible_truncation,
            reason = "both are integers below 2^63"
        )]
        Some(Self(seconds.trunc() as i64 * 1_000_000 + micros as i64))
    }
}

/// The seconds that a JSON value states.
impl TryFrom<Value> for TimeDelta {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let seconds = number(&written).and_then(Self::seconds);
        seconds.ok_or_else(|| format!("expected a number of seconds, found `{written}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_even_microseconds() {
        // From `timedelta(seconds=s) // timedelta(microseconds=1)` in Python 3.11.
        for (seconds, micros) in [
            (0.000_000_5, 0),
            (0.000_001_5, 2),
            (1.000_000_5, 1_000_001),
            (-0.000_001_4, -1),
            (0.1 + 0.2, 300_000),
            (86_399.999_999_9, 86_400_000_000),
        ] {
            assert_eq!(
                TimeDelta::seconds(seconds),
                Some(TimeDelta(micros)),
                "{seconds}"
            );
        }
    }

    #[test]
    fn a_length_that_python_cannot_hold_is_none() {
        for seconds in [f64::NAN, f64::INFINITY, 1e14] {
            assert_eq!(TimeDelta::seconds(seconds), None);
        }
    }
}
