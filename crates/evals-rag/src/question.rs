//! A question of a dataset.

use std::mem;

use evals_metrics::Judgements;
use evals_targets::Turn;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::EvidenceSpan;

/// A question, with its dataset's facts about the right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Unique within a dataset; the query id of exported TREC files.
    pub id: String,
    /// The text of the question; of a conversation whose user a model plays, the goal of that user.
    pub text: String,
    /// The reference answer, where the dataset has one.
    pub answer: Option<String>,
    /// Further answers that are right as well, such as other names of the same person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
    /// False if the corpus does not contain the answer, which makes a refusal right. No document is then relevant and all
    /// rank measures are undefined, regardless of [`relevant`](Self::relevant).
    pub answerable: bool,
    /// All documents judged for this question, with their grades. It includes documents judged as not relevant (grade 0 or
    /// less), because measures such as `Judged` distinguish them from unjudged ones. [`Judgements::relevant`] lists those of
    /// grade 1 or more; there may be none.
    pub relevant: Judgements,
    /// The parts of documents that answer the question, where the dataset names them. Measures of spans compare passages with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceSpan>,
    /// The facts that a good answer has, where the dataset names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nuggets: Vec<Nugget>,
    /// The question's place in a conversation, if it is part of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Turn>,
    /// What the user knows and says first, if a model plays the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserPart>,
    /// The cluster of the question: questions of one cluster may depend on each other, such as those about one document. `None` if the
    /// question is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Further facts about the question by name, such as its topic. Questions can be chosen and reports grouped by them. A name
    /// is not [`ANSWERABLE`](Self::ANSWERABLE).
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// The part of a user whom a model plays, beside the goal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserPart {
    /// What the user knows and may say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// The first message. Without it, the model writes that one, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}

/// A fact that a good answer has. Read from `{text, vital}` or from a text, which is vital.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenNugget")]
pub struct Nugget {
    /// The fact, in a few words.
    pub text: String,
    /// Whether an answer without it is no good answer. Other facts are okay: worth having, and not necessary.
    pub vital: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenNugget {
    Text(String),
    Fact { text: String, vital: Option<bool> },
}

impl From<WrittenNugget> for Nugget {
    fn from(written: WrittenNugget) -> Self {
        let (text, vital) = match written {
            WrittenNugget::Text(text) => (text, None),
            WrittenNugget::Fact { text, vital } => (text, vital),
        };
        Self {
            text,
            vital: vital.unwrap_or(true),
        }
    }
}

impl Question {
    /// The reason for undefined rank, citation and text measures of a question that is not [`answerable`](Self::answerable).
    pub const UNANSWERABLE: &str = "unanswerable";

    /// The name of the fact whether a question is [`answerable`](Self::answerable), which every question has.
    pub const ANSWERABLE: &str = "answerable";

    /// The name of the fact how many documents are [relevant](Self::relevant): 0 for an unanswerable question, null without judgements.
    /// Metadata of this name hides it.
    pub const RELEVANT_DOCUMENTS: &str = "relevant_documents";

    /// The name of the fact how many words a question has: `1-5 words`, `6-10 words`, `11-20 words` or `over 20 words`. Metadata of this
    /// name hides it.
    pub const LENGTH: &str = "question_length";

    /// The name of the fact which conversation a question is part of. It is in the metadata of such questions alone.
    pub const CONVERSATION: &str = "conversation";

    /// The name of the fact which question of its conversation it is, from 1. It is in the metadata of such questions alone.
    pub const TURN: &str = "turn";

    /// The name of the fact what the user of a conversation knows, a list of texts. It is in the metadata of questions whose
    /// [user](Self::user) a model plays.
    pub const USER_KNOWS: &str = "user knows";

    /// The names of the facts that every question has.
    pub const FACTS: [&str; 3] = [Self::ANSWERABLE, Self::RELEVANT_DOCUMENTS, Self::LENGTH];

    /// The metadata with the [facts](Self::FACTS).
    pub fn facts(&self) -> Map<String, Value> {
        let mut facts = self.metadata.clone();
        for (name, fact) in derived(&self.text, self.answerable, &self.relevant) {
            facts.entry(name).or_insert(fact);
        }
        facts
    }

    /// Takes the judgements, or none if the question is unanswerable.
    pub(crate) fn take_judgements(&mut self) -> Judgements {
        let judged = mem::take(&mut self.relevant);
        if self.answerable {
            judged
        } else {
            Judgements::new()
        }
    }
}

/// The facts that follow from the text of a question, and from its judgements, which do not count if it is unanswerable.
pub(crate) fn derived(
    text: &str,
    answerable: bool,
    judged: &Judgements,
) -> [(&'static str, Value); 3] {
    let relevant = if !answerable {
        0.into()
    } else if judged.iter().next().is_none() {
        // Nobody knows.
        Value::Null
    } else {
        judged.relevant().count().into()
    };
    [
        (Question::ANSWERABLE, answerable.into()),
        (Question::RELEVANT_DOCUMENTS, relevant),
        (Question::LENGTH, length(text).into()),
    ]
}

/// The group of texts of about as many words.
fn length(text: &str) -> &'static str {
    match text.split_whitespace().count() {
        ..=5 => "1-5 words",
        6..=10 => "6-10 words",
        11..=20 => "11-20 words",
        _ => "over 20 words",
    }
}

#[cfg(test)]
mod tests {
    use super::length;

    #[test]
    fn words_are_what_white_space_separates() {
        let of = |words: usize| length(&vec!["word"; words].join("  "));
        assert_eq!(
            [1, 5, 6, 10, 11, 20, 21].map(of),
            [
                "1-5 words",
                "1-5 words",
                "6-10 words",
                "6-10 words",
                "11-20 words",
                "11-20 words",
                "over 20 words"
            ]
        );
    }
}
