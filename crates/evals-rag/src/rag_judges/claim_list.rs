//! Reads a list of claims from a reply.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::judging::{Shown, Wanted, parse_object};

/// More claims than this are refused: a model that repeats itself would otherwise weigh one claim many times.
pub(super) const MOST_CLAIMS: usize = 100;

/// The claims of a text, or the points of a question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct ClaimList {
    pub(super) claims: Vec<String>,
}

impl ClaimList {
    /// The members of the object in words.
    pub(super) const WANTED: &'static str = "a list `claims` of texts";

    /// Reads the text of an object. Claims without text are dropped, and repetitions of a claim too.
    pub(super) fn parse(object: &str) -> Option<Self> {
        let list: Self = parse_object(object)?;
        let mut claims: Vec<String> = Vec::new();
        for claim in list.claims {
            let claim = claim.trim();
            if !claim.is_empty() && claims.iter().all(|known| known != claim) {
                claims.push(claim.to_owned());
            }
        }
        Some(Self { claims })
    }

    /// The form of the object in words.
    pub(super) fn shape(nonce: &str) -> String {
        format!(r#"{{"id": "{nonce}", "claims": ["<first>", "<second>", …]}}"#)
    }

    pub(super) fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "claims": {"type": "array", "items": {"type": "string"}}
            },
            "required": ["id", "claims"],
            "additionalProperties": false
        })
    }
}

impl Wanted for ClaimList {
    const KEY: &'static str = "claims";

    fn may_be_from(&self, shown: &Shown) -> bool {
        shown.mentions(Self::KEY)
    }

    fn agrees(&self, other: &Self) -> bool {
        self == other
    }

    fn complaint(&self) -> Option<String> {
        let claims = self.claims.len();
        (claims > MOST_CLAIMS)
            .then(|| format!("it lists {claims} claims, and {MOST_CLAIMS} is the most"))
    }
}
