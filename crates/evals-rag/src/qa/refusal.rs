//! The evaluator of refusals: does an answer refuse exactly when it should?

use std::num::NonZeroUsize;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};

use super::{Qa, Reference};
use crate::call::Purpose;
use crate::conversation::JudgedQuestion;
use crate::judging::{RefusalJudge, record_judged};
use crate::rag_judges::RagJudges;

/// The reason for undefined recall: only unanswerable questions count.
const ANSWERABLE: &str = "answerable question";

/// Refusal precision and recall, as the means of two assertions.
///
/// - `refusal precision` is defined if the system refused, and passes if the question is unanswerable.
/// - `refusal recall` is defined if the question is unanswerable, and passes if the system refused.
///
/// A known sentence makes an answer a refusal. If a judge is set, it decides about answers without such a sentence, at one
/// call each.
///
/// A failure counts for `refusal recall` if the question is unanswerable, and for nothing else. It never counts for `refusal
/// precision`, which covers only actual refusals: a failed task gave none, and an answer whose judge failed is undefined.
#[derive(Debug, Clone, Default)]
pub struct Refusal {
    judge: Option<(RefusalJudge, usize)>,
}

impl Refusal {
    /// The name of the evaluator.
    pub const EVALUATOR: &str = "refusal";
    /// The name of the outcome for refusals.
    pub const PRECISION: &str = "refusal precision";
    /// The name of the outcome for unanswerable questions.
    pub const RECALL: &str = "refusal recall";

    /// Recognises refusals only by their sentences.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks `judge` about answers without a known sentence. Before the question, it reads the latest turns of the conversation that fit in
    /// `context_tokens`. [`RagJudges::context_tokens`] counts tokens in the same way.
    #[must_use]
    pub fn judge(self, judge: RefusalJudge, context_tokens: NonZeroUsize) -> Self {
        Self {
            judge: Some((judge, RagJudges::bytes(context_tokens))),
        }
    }

    async fn refused(
        &self,
        context: &Context<'_, Qa>,
    ) -> Result<(bool, Option<String>), EvaluatorError> {
        let Some((judge, most)) = self.judge.as_ref().filter(|_| !context.output.refused) else {
            return Ok((context.output.refused, None));
        };
        let answer = context.output.plain();
        let question = JudgedQuestion::of(context, *most).text();
        let verdict = judge.refuses(&question, &answer, context.repeat).await;
        let purpose = Purpose::RefusalJudge;
        let verdict = record_judged(verdict, |it| &it.calls, purpose, &context.scope)?;
        Ok((verdict.pass, Some(verdict.reason)))
    }
}

#[async_trait]
impl Evaluator<Qa> for Refusal {
    fn name(&self) -> &'static str {
        Self::EVALUATOR
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        let Some(expected) = &context.case.expected else {
            let unknown = "not known whether the question is answerable";
            return Ok(vec![
                Outcome::undefined(Self::PRECISION, unknown),
                Outcome::undefined(Self::RECALL, unknown),
            ]);
        };
        if let Some(reason) = context.output.unanswered() {
            return Ok(vec![
                Outcome::undefined(Self::PRECISION, reason),
                Outcome::undefined(Self::RECALL, reason),
            ]);
        }
        let (refused, reason) = match self.refused(context).await {
            Ok(decided) => decided,
            Err(error) => return Err(error.beside(undecided(expected))),
        };
        let stated = |outcome: Outcome| match &reason {
            Some(reason) => outcome.because(reason),
            None => outcome,
        };
        let precision = if refused {
            stated(Outcome::assertion(Self::PRECISION, !expected.answerable))
        } else {
            Outcome::undefined(Self::PRECISION, "answered")
        };
        let recall = if expected.answerable {
            Outcome::undefined(Self::RECALL, ANSWERABLE)
        } else {
            stated(Outcome::assertion(Self::RECALL, refused))
        };
        Ok(vec![precision, recall])
    }

    fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
        let expected = case.expected.as_ref();
        let unanswerable = expected.is_some_and(|expected| !expected.answerable);
        let recall = unanswerable.then(|| Concern::assertion(Self::RECALL));
        Some(recall.into_iter().collect())
    }
}

/// The outcomes of an answer that may or may not be a refusal.
fn undecided(expected: &Reference) -> Vec<Outcome> {
    let unknown = "not known whether it refuses";
    let mut known = vec![Outcome::undefined(Refusal::PRECISION, unknown)];
    if expected.answerable {
        known.push(Outcome::undefined(Refusal::RECALL, ANSWERABLE));
    }
    known
}
