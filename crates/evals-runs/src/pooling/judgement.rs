//! A judgement: how well a passage answers a question, by a model or a person.

use std::fmt;

use evals_models::ModelIdentity;
use evals_rag::judging::RelevanceJudge;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::grades::Texts;

/// A grade of a passage for a question.
///
/// It holds digests of both texts: if the question or the passage changes, the judgement is about something else and does not count. Two
/// documents with one text share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The question's id.
    pub question: String,
    /// SHA-256 of the question's text.
    pub question_digest: String,
    /// SHA-256 of the text that was judged.
    pub passage_digest: String,
    /// The document that the text came from.
    pub document: String,
    /// Who judged.
    pub assessor: Assessor,
    /// From 0 to 3, as [`RelevanceJudge`] defines them.
    pub grade: u8,
    /// The reason, or an empty text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// UTC, as in a manifest.
    pub time: String,
}

/// Who judges passages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assessor {
    /// A language model.
    Model {
        /// The model.
        identity: ModelIdentity,
        /// SHA-256 of its prompt.
        prompt: String,
    },
    /// A person, by name.
    Person(String),
}

impl Judgement {
    /// What it is about.
    pub(super) fn texts(&self) -> Texts<'_> {
        (&self.question_digest, &self.passage_digest)
    }
}

impl fmt::Display for Assessor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model { identity, .. } => identity.fmt(formatter),
            Self::Person(name) => formatter.write_str(name),
        }
    }
}

/// The grade that a person wrote; `None` if it is not 0 to 3.
pub fn written_grade(text: &str) -> Option<u8> {
    let grade: Option<u8> = text.parse().ok();
    grade.filter(|grade| *grade <= RelevanceJudge::HIGHEST)
}

/// SHA-256 of a text, in hexadecimal.
pub(super) fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text))
}
