//! The answer of a case, as reports hold it.

use evals_metrics::Ranking;
use evals_models::Finish;
use serde::{Deserialize, Serialize};

use crate::answering::{Answered, Citations};
use crate::{Missing, Passage};

/// An answer with its citations, passages and ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The original answer, with citation markers such as `[1]`; [`plain`](Self::plain) removes them.
    pub text: String,
    /// Whether it refuses with a known sentence.
    pub refused: bool,
    /// The distinct cited documents, in the order of their first citation.
    pub citations: Vec<String>,
    /// How often the answer cites a passage that does not exist.
    #[serde(default, skip_serializing_if = "crate::call::is_zero")]
    pub unknown_citations: usize,
    /// Why the model stopped writing.
    pub finish: Finish,
    /// The passages that the model was shown, in the order of their numbers: `[1]` is the first.
    pub passages: Vec<Passage>,
    /// All documents that the search found.
    pub ranking: Ranking,
    /// The searches of an agent, in order; `None` if the program searched for the passages in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub searches: Option<Vec<String>>,
    /// The parts that a system under test did not return; our own pipeline returns everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

impl Answer {
    /// Combines an answer with its passages and its ranking.
    pub(super) fn new(answered: Answered, passages: Vec<Passage>, ranking: Ranking) -> Self {
        let cited = Citations::find(&answered.text, passages.len());
        let mut citations = Vec::new();
        for number in cited.passages {
            let document = &passages[number - 1].document;
            if !citations.contains(document) {
                citations.push(document.clone());
            }
        }
        Self {
            text: answered.text,
            refused: answered.refused,
            citations,
            unknown_citations: cited.unknown,
            finish: answered.finish,
            passages,
            ranking,
            searches: None,
            missing: Vec::new(),
        }
    }

    /// The reason for undefined measures of the answer, if there is no answer.
    pub(crate) fn unanswered(&self) -> Option<&'static str> {
        let missing = self.missing.contains(&Missing::Answer);
        missing.then(|| Missing::Answer.reason())
    }

    /// The text that judges and text measures read: without citation markers. Brackets that cite no passage stay.
    pub fn plain(&self) -> String {
        Citations::plain(&self.text, self.passages.len())
    }
}
