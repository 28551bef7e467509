//! The grade of `GEval`: a reason and a whole number in a range.

use std::fmt;

use evals_models::ReplySchema;
use evals_rag::judging::{Wanted, parse_object, whole};
use serde::Deserialize;
use serde_json::json;

/// A grade with the judge's reason.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Grade {
    pub(super) reason: String,
    #[serde(deserialize_with = "whole")]
    pub(super) score: i64,
}

/// The worst and the best grade.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "[i64; 2]")]
pub(super) struct ScoreRange {
    pub(super) lowest: i64,
    pub(super) highest: i64,
}

/// Grades beyond this are not exact as scores.
const LARGEST: i64 = 1 << 53;

impl TryFrom<[i64; 2]> for ScoreRange {
    type Error = String;

    fn try_from([lowest, highest]: [i64; 2]) -> Result<Self, String> {
        let range = Self { lowest, highest };
        if lowest >= highest {
            return Err(format!("must satisfy min < max, got {range}"));
        }
        if lowest < -LARGEST || highest > LARGEST {
            return Err(format!(
                "{range} is beyond 2^53, up to which numbers are exact"
            ));
        }
        Ok(range)
    }
}

impl ScoreRange {
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
    pub(super) const MEMBERS: &str = "a text `reason` and a whole number `score`";

    /// The form of the object in words.
    pub(super) fn form(range: ScoreRange, nonce: &str) -> String {
        let ScoreRange { lowest, highest } = range;
        format!(
            r#"{{"reason": "<a few sentences>", "id": "{nonce}", "score": <a whole number from {lowest} to {highest}>}}"#
        )
    }

    /// The reason comes before the grade, and the `id` between them, as in the verdict on a rubric.
    pub(super) fn schema(range: ScoreRange) -> ReplySchema {
        let ScoreRange { lowest, highest } = range;
        ReplySchema::of_object(
            "grade",
            json!({
                "reason": {"type": "string"},
                "id": {"type": "string"},
                "score": {"type": "integer", "minimum": lowest, "maximum": highest},
            }),
        )
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

    fn agrees(&self, other: &Self) -> bool {
        self.score == other.score
    }
}
