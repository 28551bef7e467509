//! A question of a test set, and one that a filter dropped.

use std::fmt;

use evals_rag::{EvidenceSpan, Nugget};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// A question of a test set: a line of `questions.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Unique within the set.
    pub id: String,
    /// The text of the question.
    pub question: String,
    /// The reference answer; [`UNANSWERABLE`](Self::UNANSWERABLE) if the documents do not have it.
    #[serde(default = "unanswerable", deserialize_with = "written_answer")]
    pub answer: String,
    /// What kind of question it is.
    pub kind: Kind,
    /// Who asks, in words of the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asker: Option<String>,
    /// The ids of the documents that answer the question, best first; none for an unanswerable one.
    #[serde(default)]
    pub relevant: Vec<String>,
    /// The spans that answer it; none for an unanswerable one.
    #[serde(default)]
    pub evidence: Vec<EvidenceSpan>,
    /// The facts of a good answer, by which the judge `nuggets` judges; none until somebody wrote them.
    #[serde(default)]
    pub nuggets: Vec<Nugget>,
}

impl Item {
    /// The reference answer of an unanswerable question, which the manifest names.
    pub const UNANSWERABLE: &str = "The documents do not answer this question.";

    /// A question without an answer.
    pub fn new(id: impl Into<String>, question: impl Into<String>, kind: Kind) -> Self {
        Self {
            id: id.into(),
            question: question.into(),
            answer: unanswerable(),
            kind,
            asker: None,
            relevant: Vec::new(),
            evidence: Vec::new(),
            nuggets: Vec::new(),
        }
    }

    /// Whether the documents answer the question.
    pub fn is_answerable(&self) -> bool {
        self.answer.trim() != Self::UNANSWERABLE
    }

    /// The documents that the question names, those with evidence first.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        let quoted = self.evidence.iter().map(|span| &span.document);
        quoted.chain(&self.relevant).map(String::as_str)
    }
}

fn unanswerable() -> String {
    Item::UNANSWERABLE.to_owned()
}

/// A set that was written by hand may have null for an answer.
fn written_answer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let written = Option::<String>::deserialize(deserializer)?;
    Ok(written.unwrap_or_else(unanswerable))
}

/// A kind of question.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Asks for one fact.
    SingleFact,
    /// Asks for a number or a date.
    Number,
    /// Asks how something is done.
    Procedure,
    /// Compares what two documents say.
    Comparison,
    /// Is answered by yes or no.
    YesNo,
    /// A few words in place of a sentence, as in a search box.
    Keywords,
    /// Vague or misspelled, as people type.
    Vague,
    /// Near to a document that does not answer it.
    Unanswerable,
    /// Was asked by a user; taken from a log.
    Logged,
}

impl fmt::Display for Kind {
    /// The name in settings and files.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// A question that left the set: a line of `dropped.jsonl`, if a filter dropped it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Why, as a name that can be counted.
    pub reason: DropReason,
    /// Why, in words about this question.
    pub detail: String,
    /// The question.
    #[serde(flatten)]
    pub item: Item,
}

/// Why a filter drops a question, or a check of changed documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropReason {
    /// The model's reply was not a usable question.
    Unusable,
    /// The quoted evidence is not in the document.
    NoEvidence,
    /// The question copies the words of its evidence.
    Copied,
    /// The question is nearly the same as an earlier one.
    Duplicate,
    /// The question cannot be understood alone, such as one about "this passage".
    NotAlone,
    /// The evidence alone does not answer it.
    NotAnswered,
    /// A model answers it correctly without a document.
    NeedsNoDocument,
    /// A document that is not relevant answers it differently, or too many documents answer it.
    NotUnique,
    /// It is meant to be unanswerable, but a document answers it.
    Answerable,
    /// A document that the set calls relevant is not there any more.
    DocumentGone,
    /// The document now says something similar in other words.
    Changed,
    /// The document says nothing similar any more.
    Vanished,
    /// A document that the set does not call relevant has the same quote, so it may also answer the question.
    Twin,
}

impl fmt::Display for DropReason {
    /// The name in files.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
    }
}
