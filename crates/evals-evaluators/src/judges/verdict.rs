//! The verdict on a rubric: a reason, whether the output passes, and a score.

use evals_models::ReplySchema;
use evals_rag::judging::{Wanted, finite, parse_object, truth};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The verdict of a judge on a rubric.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) struct RubricVerdict {
    pub(super) reason: String,
    #[serde(deserialize_with = "truth")]
    pub(super) pass: bool,
    #[serde(deserialize_with = "finite")]
    pub(super) score: f64,
}

impl RubricVerdict {
    /// The members in words.
    pub(super) const MEMBERS: &str =
        "a text `reason`, a boolean `pass` and, directly after it, a number `score`";

    /// The form of the object in words.
    pub(super) fn form(nonce: &str) -> String {
        format!(
            r#"{{"reason": "<one or two sentences>", "id": "{nonce}", "pass": <true or false>, "score": <a number>}}"#
        )
    }

    /// The reason comes before the decision, because a model should argue before it decides. The `id` comes between them, so a
    /// quotation in the reason cannot decide.
    pub(super) fn schema() -> ReplySchema {
        ReplySchema::of_object(
            "verdict",
            json!({
                "reason": {"type": "string"},
                "id": {"type": "string"},
                "pass": {"type": "boolean"},
                "score": {"type": "number"},
            }),
        )
    }

    /// Reads the text of an object. The score must come directly after the decision: if the reason quotes the output without
    /// escapes, the output could otherwise add a score of its own.
    pub(super) fn parse(object: &str) -> Option<Self> {
        let verdict: Self = parse_object(object)?;
        let members: Map<String, Value> = parse_object(object)?;
        let place = |key: &str| members.keys().position(|member| member == key);
        (place("pass").map(|place| place + 1) == place("score")).then(|| Self {
            reason: verdict.reason.trim().to_owned(),
            ..verdict
        })
    }
}

impl Wanted for RubricVerdict {
    const KEY: &'static str = "pass";

    fn agrees(&self, other: &Self) -> bool {
        self.pass == other.pass && self.score.total_cmp(&other.score).is_eq()
    }
}
