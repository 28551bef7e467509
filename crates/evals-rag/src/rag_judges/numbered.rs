//! Reads a numbered list of verdicts from a reply.

use std::collections::BTreeMap;

use evals_models::object_schema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::judging::{Wanted, parse_object, whole};

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
    #[serde(deserialize_with = "whole")]
    number: usize,
    reason: String,
}

/// Verdicts come after the nonce and therefore have no free text, which could quote the material.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenVerdict {
    #[serde(deserialize_with = "whole")]
    number: usize,
    verdict: String,
    #[serde(default, deserialize_with = "passage")]
    passage: Option<usize>,
}

/// The number of a passage, or `null`. Some models write 0 for none.
fn passage<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<usize>, D::Error> {
    #[derive(Deserialize)]
    struct Number(#[serde(deserialize_with = "whole")] usize);
    let written = Option::<Number>::deserialize(deserializer)?;
    Ok(written
        .map(|Number(number)| number)
        .filter(|number| *number > 0))
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

/// The words that a judge may choose from for each item of a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The verdict that raises the score.
    pub(super) holds: &'static str,
    /// The others, the gravest first: of several judges that disagree, the gravest of the most frequent ones is shown.
    pub(super) others: &'static [&'static str],
    /// Whether a verdict names the passage that decides.
    pub(super) names_passage: bool,
}

impl Words {
    /// Whether passages support a claim or a sentence.
    pub(super) const SUPPORT: Self = Self {
        holds: "supported",
        others: &["contradicted", "not found"],
        names_passage: true,
    };
    /// Whether a statement helps to answer.
    pub(super) const RELEVANCE: Self = Self {
        holds: "relevant",
        others: &["irrelevant"],
        names_passage: false,
    };
    /// Whether a passage helps to answer.
    pub(super) const USEFULNESS: Self = Self {
        holds: "useful",
        others: &["not useful"],
        names_passage: false,
    };
    /// Whether an answer covers a point.
    pub(super) const COVERAGE: Self = Self {
        holds: "covered",
        others: &["missing"],
        names_passage: false,
    };

    /// Whether a statement about a conversation is right.
    pub(super) const CONVERSATION: Self = Self {
        holds: "holds",
        others: &["fails"],
        names_passage: false,
    };

    /// The verdict on a fact that an answer has in part.
    pub(super) const PARTIAL: &'static str = "partial support";
    /// How much of a fact an answer has.
    pub(super) const NUGGET: Self = Self {
        holds: "support",
        others: &["not support", Self::PARTIAL],
        names_passage: false,
    };

    /// All words, the one that holds first.
    pub(super) fn all(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.holds).chain(self.others.iter().copied())
    }

    /// The word that a judge wrote. Case, spaces around it and `_` or `-` in place of a space make no difference.
    pub(super) fn read(&self, written: &str) -> Option<&'static str> {
        let plain = written.trim().to_lowercase().replace(['_', '-'], " ");
        self.all().find(|word| *word == plain)
    }

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
        let mut verdict = json!({
            "number": {"type": "integer"},
            "verdict": {"type": "string", "enum": words},
        });
        if self.names_passage {
            verdict["passage"] = json!({"type": ["integer", "null"]});
        }
        let reason = json!({"number": {"type": "integer"}, "reason": {"type": "string"}});
        object_schema(&json!({
            "reasons": {"type": "array", "items": object_schema(&reason)},
            "id": {"type": "string"},
            "verdicts": {"type": "array", "items": object_schema(&verdict)},
        }))
    }
}
