//! A question of a dataset.

use std::mem;

use evals_metrics::Judgements;
use serde::{Deserialize, Serialize};

/// A question, and what its dataset knows about the right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Unique within a dataset; the query id of exported TREC files.
    pub id: String,
    /// The text of the question.
    pub text: String,
    /// The reference answer, where the dataset has one.
    pub answer: Option<String>,
    /// False where the dataset says that the corpus does not hold the answer, so that refusing is right. No document is then
    /// relevant, and no rank measure defined, whatever [`relevant`](Self::relevant) holds.
    pub answerable: bool,
    /// All documents judged for this question, with their grades, those judged as not relevant (grade 0 or less) among
    /// them: measures such as `Judged` tell them from unjudged ones. [`Judgements::relevant`] gives those of grade 1 or
    /// more, of which there may be none.
    pub relevant: Judgements,
}

impl Question {
    /// Why a question that is not [`answerable`](Self::answerable) has no rank measures, citation measures and measures of the
    /// answer's words.
    pub const UNANSWERABLE: &str = "unanswerable";

    /// Takes the judgements that count: none of a question that the corpus does not answer.
    pub(crate) fn take_judgements(&mut self) -> Judgements {
        let judged = mem::take(&mut self.relevant);
        if self.answerable {
            judged
        } else {
            Judgements::new()
        }
    }
}
