//! The evaluator of where an agent's answer broke: in searching, in finding, or in using what it found.

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};

use super::Qa;
use crate::Question;

/// How far an agent came with a relevant document: the label `breakdown`.
///
/// - `never searched`: the model answered without a search.
/// - `not found`: it searched, and none of the passages that it was shown is from a relevant document.
/// - `not used`: it was shown a passage of a relevant document, and cites none of them.
/// - `used`: it cites a relevant document.
///
/// Undefined for an unanswerable question and without relevant documents. Answers from passages that were searched for in advance have
/// no such label.
#[derive(Debug, Clone, Copy, Default)]
pub struct Breakdown;

impl Breakdown {
    /// The name of its outcome.
    pub const OUTCOME: &str = "breakdown";
}

#[async_trait]
impl Evaluator<Qa> for Breakdown {
    fn name(&self) -> &'static str {
        Self::OUTCOME
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        let answer = context.output;
        let Some(searches) = &answer.searches else {
            return Ok(Vec::new());
        };
        let undefined = |reason: &str| Ok(vec![Outcome::undefined(Self::OUTCOME, reason)]);
        let Some(expected) = &context.case.expected else {
            return undefined("no relevant documents");
        };
        if !expected.answerable {
            return undefined(Question::UNANSWERABLE);
        }
        let relevant: Vec<&str> = expected.relevant.relevant().collect();
        if relevant.is_empty() {
            return undefined("no relevant documents");
        }
        let is_relevant = |document: &str| relevant.contains(&document);
        let is_shown = answer
            .passages
            .iter()
            .any(|passage| is_relevant(&passage.document));
        let is_cited = answer
            .citations
            .iter()
            .any(|document| is_relevant(document));
        let label = match (searches.is_empty(), is_shown, is_cited) {
            (true, _, _) => "never searched",
            (false, false, _) => "not found",
            (false, true, false) => "not used",
            (false, true, true) => "used",
        };
        Ok(vec![Outcome::label(Self::OUTCOME, label)])
    }

    /// A failed task has no label.
    fn concerns(&self, _case: &Case<Qa>) -> Option<Vec<Concern>> {
        Some(Vec::new())
    }
}
