use evals_metrics::Judgements;
use serde::{Deserialize, Serialize};

/// A question with what its dataset knows of the right answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Unique within a dataset; the query id of exported TREC files.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// The reference answer, where the dataset has one.
    pub answer: Option<String>,
    /// False where the dataset says that the corpus does not hold the answer, so that refusing is right.
    pub answerable: bool,
    /// The documents judged for this question.
    pub relevant: Judgements,
}
