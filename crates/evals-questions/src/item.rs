//! A question of a test set, and one that a filter dropped.

use std::fmt;

use evals_rag::EvidenceSpan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question of a test set: a line of `questions.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// Unique within the set.
    pub id: String,
    /// The text of the question.
    pub question: String,
    /// The reference answer; `None` if the documents do not answer the question, which the file says by [a sentence](Self::UNANSWERABLE).
    #[serde(default, with = "written_answer")]
    pub answer: Option<String>,
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
}

impl Item {
    /// The reference answer of an unanswerable question in files, which a manifest names.
    pub const UNANSWERABLE: &str = "The documents do not answer this question.";

    /// Whether the documents answer the question.
    pub fn is_answerable(&self) -> bool {
        self.answer.is_some()
    }
}

mod written_answer {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Item;

    #[expect(clippy::ref_option, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(
        answer: &Option<String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(answer.as_deref().unwrap_or(Item::UNANSWERABLE))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<String>, D::Error> {
        let written = Option::<String>::deserialize(deserializer)?;
        Ok(written.filter(|answer| answer.trim() != Item::UNANSWERABLE))
    }
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

impl Kind {
    /// Every kind that a model writes.
    pub const WRITTEN: [Self; 8] = [
        Self::SingleFact,
        Self::Number,
        Self::Procedure,
        Self::Comparison,
        Self::YesNo,
        Self::Keywords,
        Self::Vague,
        Self::Unanswerable,
    ];

    /// The name in settings and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::SingleFact => "single_fact",
            Self::Number => "number",
            Self::Procedure => "procedure",
            Self::Comparison => "comparison",
            Self::YesNo => "yes_no",
            Self::Keywords => "keywords",
            Self::Vague => "vague",
            Self::Unanswerable => "unanswerable",
            Self::Logged => "logged",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A question that a filter dropped: a line of `dropped.jsonl`.
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

impl DropReason {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unusable => "unusable",
            Self::NoEvidence => "no_evidence",
            Self::Copied => "copied",
            Self::Duplicate => "duplicate",
            Self::NotAlone => "not_alone",
            Self::NotAnswered => "not_answered",
            Self::NeedsNoDocument => "needs_no_document",
            Self::NotUnique => "not_unique",
            Self::Answerable => "answerable",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Why a filter drops a question.
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
}
