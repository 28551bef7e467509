//! Reads a numbered list of verdicts from a reply.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use super::words::Words;
use crate::judging::{Shown, Wanted, parse_object};

/// The verdict on one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) word: &'static str,
    /// The number of the passage that decides.
    pub(super) passage: Option<usize>,
    pub(super) reason: Option<String>,
}

/// The verdicts of one reply, one for each item in order, or what is wrong with them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numbered(pub(super) Result<Vec<Given>, String>);

/// What a reply has to hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wants<'a> {
    pub(super) words: &'static Words,
    /// How many items there are.
    pub(super) items: usize,
    /// The numbers of the passages that decide about an item, by its index.
    pub(super) passages: &'a [Vec<usize>],
}

#[derive(Deserialize)]
struct NumberedReply {
    #[serde(default)]
    reasons: Vec<Reason>,
    verdicts: Vec<WrittenVerdict>,
}

#[derive(Deserialize)]
struct Reason {
    #[serde(deserialize_with = "number")]
    number: usize,
    reason: String,
}

/// Verdicts come after the nonce and therefore have no free text, which could quote the material.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenVerdict {
    #[serde(deserialize_with = "number")]
    number: usize,
    verdict: String,
    #[serde(default, deserialize_with = "passage")]
    passage: Option<usize>,
}

/// A whole number, which some models write as a text.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let value = Value::deserialize(deserializer)?;
    whole(&value).ok_or_else(|| serde::de::Error::custom("not a whole number"))
}

fn passage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    if value.is_null() {
        return Ok(None);
    }
    let number = whole(&value).ok_or_else(|| serde::de::Error::custom("not a whole number"))?;
    // Some models write 0 for none.
    Ok(Some(number).filter(|number| *number > 0))
}

fn whole(value: &Value) -> Option<usize> {
    let number = match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    usize::try_from(number?).ok()
}

impl Wants<'_> {
    /// The members of the object in words.
    pub(super) const WANTED: &'static str =
        "a list `reasons` and a list `verdicts`, whose entries have a `number`";

    /// Reads the text of an object, if it has the form of a list of verdicts.
    pub(super) fn parse(&self, object: &str) -> Option<Numbered> {
        let reply: NumberedReply = parse_object(object)?;
        Some(Numbered(self.check(reply)))
    }

    fn check(&self, reply: NumberedReply) -> Result<Vec<Given>, String> {
        let mut reasons = BTreeMap::new();
        for reason in reply.reasons {
            self.is_item("reasons", reason.number)?;
            let text = reason.reason.trim().to_owned();
            if reasons.insert(reason.number, text).is_some() {
                return Err(format!("`reasons` has number {} twice", reason.number));
            }
        }
        let mut verdicts = BTreeMap::new();
        for written in reply.verdicts {
            let number = written.number;
            self.is_item("verdicts", number)?;
            let given = self.given(&written, &mut reasons)?;
            if verdicts.insert(number, given).is_some() {
                return Err(format!("`verdicts` has number {number} twice"));
            }
        }
        let missing = (1..=self.items).find(|number| !verdicts.contains_key(number));
        match missing {
            Some(number) => Err(format!("`verdicts` lacks number {number}")),
            None => Ok(verdicts.into_values().collect()),
        }
    }

    fn is_item(&self, list: &str, number: usize) -> Result<(), String> {
        if (1..=self.items).contains(&number) {
            return Ok(());
        }
        let items = self.items;
        Err(format!(
            "`{list}` has number {number}, but the numbers go from 1 to {items}"
        ))
    }

    fn given(
        &self,
        written: &WrittenVerdict,
        reasons: &mut BTreeMap<usize, String>,
    ) -> Result<Given, String> {
        let number = written.number;
        let Some(word) = self.words.read(&written.verdict) else {
            let words: Vec<String> = self.words.all().map(|word| format!("`{word}`")).collect();
            let words = words.join(", ");
            return Err(format!("verdict {number} is not one of {words}"));
        };
        let passage = written.passage.filter(|_| self.words.names_passage);
        if let Some(passage) = passage
            && !self.passages[number - 1].contains(&passage)
        {
            return Err(format!(
                "verdict {number} names passage {passage}, which is not one of those that decide about it"
            ));
        }
        Ok(Given {
            word,
            passage,
            reason: reasons.remove(&number).filter(|reason| !reason.is_empty()),
        })
    }
}

impl Wanted for Numbered {
    const KEY: &'static str = "verdicts";

    fn may_be_from(&self, shown: &Shown) -> bool {
        shown.mentions(Self::KEY)
    }

    fn agrees(&self, other: &Self) -> bool {
        let decisions = |numbered: &Self| {
            let given = numbered.0.as_ref().ok()?.iter();
            Some(given.map(|it| (it.word, it.passage)).collect::<Vec<_>>())
        };
        let own = decisions(self);
        own.is_some() && own == decisions(other)
    }

    fn complaint(&self) -> Option<String> {
        self.0.as_ref().err().cloned()
    }
}

impl Words {
    /// The form of the object in words.
    pub(super) fn shape(&self, nonce: &str) -> String {
        let words: Vec<String> = self.all().map(|word| format!("\"{word}\"")).collect();
        let passage = if self.names_passage {
            ", \"passage\": <number or null>"
        } else {
            ""
        };
        format!(
            r#"{{"reasons": [{{"number": 1, "reason": "<one short sentence>"}}, …], "id": "{nonce}", "verdicts": [{{"number": 1, "verdict": <{}>{passage}}}, …]}}"#,
            words.join(" or ")
        )
    }

    /// The JSON Schema of the object. The reasons come before the verdicts, because a model should argue before it decides. The
    /// `id` comes between them, so a quotation in a reason cannot decide.
    pub(super) fn schema(&self) -> Value {
        let words: Vec<&str> = self.all().collect();
        let mut properties = json!({
            "number": {"type": "integer"},
            "verdict": {"type": "string", "enum": words},
        });
        let mut required = vec!["number", "verdict"];
        if self.names_passage {
            properties["passage"] = json!({"type": ["integer", "null"]});
            required.push("passage");
        }
        json!({
            "type": "object",
            "properties": {
                "reasons": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "number": {"type": "integer"},
                            "reason": {"type": "string"}
                        },
                        "required": ["number", "reason"],
                        "additionalProperties": false
                    }
                },
                "id": {"type": "string"},
                "verdicts": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": properties,
                        "required": required,
                        "additionalProperties": false
                    }
                }
            },
            "required": ["reasons", "id", "verdicts"],
            "additionalProperties": false
        })
    }
}
