//! The answer of a case, as reports keep it.

use evals_metrics::Ranking;
use evals_models::Finish;
use serde::{Deserialize, Serialize};

use crate::Passage;
use crate::answering::{Answered, Citations};

/// An answer with what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The answer as it was given, with citation markers such as `[1]`; [`plain`](Self::plain) is without.
    pub text: String,
    /// Whether it says, in one of the known sentences, that the passages do not hold the answer.
    pub refused: bool,
    /// The cited documents, in the order of their first citation, each once.
    pub citations: Vec<String>,
    /// How often a passage was cited that does not exist.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown_citations: usize,
    /// Why the text ends where it does.
    pub finish: Finish,
    /// The passages that the model was shown, in the order of their numbers: `[1]` is the first.
    pub passages: Vec<Passage>,
    /// The documents that the search found, of which the passages are some.
    pub ranking: Ranking,
}

impl Answer {
    /// Puts an answer together with the passages that it was given from.
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
        }
    }

    /// The text without citation markers: what judges and text measures read. What is in brackets and names no passage stays.
    pub fn plain(&self) -> String {
        Citations::plain(&self.text, self.passages.len())
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
