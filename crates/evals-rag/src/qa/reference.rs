//! What a dataset knows of the right answer.

use evals_metrics::Judgements;
use serde::{Deserialize, Serialize};

use crate::Question;

/// What a dataset knows of the right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// The reference answer; of an unanswerable question what the dataset has in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// False where the documents do not hold the answer, so that refusing is right.
    pub answerable: bool,
    /// The documents judged for the question; none of them counts where it is not answerable.
    pub relevant: Judgements,
}

/// Why a measure of the answer's text has no value for a case.
const NO_REFERENCE: &str = "no reference answer";

impl Reference {
    /// The reference answer of an answerable question, or why there is none to compare words with.
    pub(super) fn text(reference: Option<&Self>) -> Result<&str, &'static str> {
        let reference = reference.ok_or(NO_REFERENCE)?;
        if !reference.answerable {
            return Err(Question::UNANSWERABLE);
        }
        reference.answer.as_deref().ok_or(NO_REFERENCE)
    }

    /// The sentence that a judge compares with: the reference answer, or one that says that there is none.
    pub(super) fn for_judge(reference: Option<&Self>) -> Result<&str, &'static str> {
        let reference = reference.ok_or(NO_REFERENCE)?;
        match &reference.answer {
            Some(answer) => Ok(answer),
            None if reference.answerable => Err(NO_REFERENCE),
            None => Ok("The documents do not answer the question."),
        }
    }
}
