//! The reference of a case: the dataset's facts about the right answer.

use evals_metrics::Judgements;
use serde::{Deserialize, Serialize};

use crate::{EvidenceSpan, Nugget, Question};

/// The reference of a case: the dataset's facts about the right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The reference answer; for an unanswerable question, the text that the dataset has in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Further answers that are right as well. An answer is compared with each of them, and the best comparison counts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<String>,
    /// False if the documents do not contain the answer, which makes a refusal right.
    pub answerable: bool,
    /// The documents judged for the question; they do not count if it is unanswerable.
    pub relevant: Judgements,
    /// The parts of documents that answer the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceSpan>,
    /// The facts that a good answer has, where the dataset names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nuggets: Vec<Nugget>,
}

/// The reason for an undefined measure of the answer's text.
const NO_REFERENCE: &str = "no reference answer";

impl Reference {
    /// The right answers of an answerable question, the reference first, or the reason for undefined text measures.
    pub(super) fn texts(reference: Option<&Self>) -> Result<Vec<&str>, &'static str> {
        let reference = reference.ok_or(NO_REFERENCE)?;
        if !reference.answerable {
            return Err(Question::UNANSWERABLE);
        }
        let answer = reference.answer.as_deref().ok_or(NO_REFERENCE)?;
        let accepted = reference.accepted.iter().map(String::as_str);
        Ok(std::iter::once(answer).chain(accepted).collect())
    }

    /// The answers beside the reference answer that are right as well.
    pub fn accepted(reference: Option<&Self>) -> &[String] {
        reference.map_or(&[], |reference| &reference.accepted)
    }

    /// The sentence that a judge compares with: the reference answer, or a sentence that says that the documents contain no
    /// answer.
    pub fn for_judge(reference: Option<&Self>) -> Result<&str, &'static str> {
        let reference = reference.ok_or(NO_REFERENCE)?;
        Self::compared(reference.answer.as_deref(), reference.answerable)
    }

    /// The same for a question that is not a case yet.
    pub fn of_question(question: &Question) -> Result<&str, &'static str> {
        Self::compared(question.answer.as_deref(), question.answerable)
    }

    fn compared(answer: Option<&str>, answerable: bool) -> Result<&str, &'static str> {
        match answer {
            Some(answer) => Ok(answer),
            None if answerable => Err(NO_REFERENCE),
            None => Ok("The documents do not answer the question."),
        }
    }
}
