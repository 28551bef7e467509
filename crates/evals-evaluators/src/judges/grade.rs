//! The grade of `GEval`: a reason and a whole number in a range.

use std::fmt;

use evals_rag::judging::{Shown, Wanted, parse_object};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use super::numbers;
use crate::argument::ArgumentError;

/// A grade with the judge's reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Grade {
    pub(super) reason: String,
    #[serde(deserialize_with = "numbers::whole")]
    pub(super) score: i64,
}

/// The worst and the best grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScoreRange {
    pub(super) lowest: i64,
    pub(super) highest: i64,
}

/// Why there is no such range.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum RangeError {
    /// It is something else.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// Its ends are in the wrong order.
    #[error("`score_range` must satisfy min < max, got {0}")]
    Order(ScoreRange),
}

/// Grades beyond this are not exact as scores.
const LARGEST: i64 = 1 << 53;

impl ScoreRange {
    /// Reads a list of two whole numbers.
    pub(super) fn read(value: &Value) -> Result<Self, RangeError> {
        let ends = || {
            let [lowest, highest] = value.as_array()?.as_slice() else {
                return None;
            };
            let exact = |end: &Value| end.as_i64().filter(|end| end.abs() <= LARGEST);
            Some(Self {
                lowest: exact(lowest)?,
                highest: exact(highest)?,
            })
        };
        let range =
            ends().ok_or_else(|| ArgumentError::new("score_range", "two whole numbers", value))?;
        if range.lowest < range.highest {
            Ok(range)
        } else {
            Err(RangeError::Order(range))
        }
    }

    pub(super) fn contains(self, score: i64) -> bool {
        (self.lowest..=self.highest).contains(&score)
    }
}

impl fmt::Display for ScoreRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{}, {}]", self.lowest, self.highest)
    }
}

impl Grade {
    /// The members in words.
    pub(super) const WANTED: &str = "a text `reason` and a whole number `score`";

    /// The form of the object in words.
    pub(super) fn shape(range: ScoreRange, nonce: &str) -> String {
        let ScoreRange { lowest, highest } = range;
        format!(
            r#"{{"reason": "<a few sentences>", "id": "{nonce}", "score": <a whole number from {lowest} to {highest}>}}"#
        )
    }

    /// The reason comes before the grade, and the `id` between them, as in the verdict on a rubric.
    pub(super) fn schema(range: ScoreRange) -> Value {
        json!({
            "type": "object",
            "properties": {
                "reason": {"type": "string"},
                "id": {"type": "string"},
                "score": {"type": "integer", "minimum": range.lowest, "maximum": range.highest},
            },
            "required": ["reason", "id", "score"],
            "additionalProperties": false,
        })
    }

    /// Reads the text of an object.
    pub(super) fn parse(object: &str) -> Option<Self> {
        let grade: Self = parse_object(object)?;
        Some(Self {
            reason: grade.reason.trim().to_owned(),
            ..grade
        })
    }
}

impl Wanted for Grade {
    const KEY: &'static str = "score";

    /// A copy needs a text that contains the word `score`.
    fn may_be_from(&self, shown: &Shown) -> bool {
        shown.mentions(Self::KEY)
    }

    fn agrees(&self, other: &Self) -> bool {
        self.score == other.score
    }
}
