//! The evaluator that asks a judge whether an answer is equivalent to the reference.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Evidence, Outcome, Vote};

use super::{Qa, Reference};
use crate::call::Purpose;
use crate::conversation::JudgedQuestion;
use crate::judging::{Judge, Judged, record_judged};
use crate::rag_judges::RagJudges;

/// Asks a judge whether the answer is equivalent to the reference: assertion `equivalent`, with the judge's reason.
///
/// Its mean is the accuracy. Undefined without a reference answer, and without an answer. If the judge fails, the evaluator fails. The calls are
/// recorded under the names of [`Purpose::Judge`] in either case.
#[derive(Debug, Clone)]
pub struct Equivalence {
    judge: Arc<dyn Judge>,
    most: usize,
}

impl Equivalence {
    /// The name of its outcome.
    pub const OUTCOME: &str = "equivalent";

    /// Makes an evaluator that asks `judge`.
    pub fn new(judge: Arc<dyn Judge>) -> Self {
        Self {
            judge,
            most: RagJudges::bytes(RagJudges::CONTEXT_TOKENS),
        }
    }

    /// Lets the judge read the latest turns before a question that fit in this many tokens. [`RagJudges::context_tokens`] counts them in the
    /// same way.
    #[must_use]
    pub fn context_tokens(self, tokens: NonZeroUsize) -> Self {
        let most = RagJudges::bytes(tokens);
        Self { most, ..self }
    }
}

#[async_trait]
impl Evaluator<Qa> for Equivalence {
    fn name(&self) -> &'static str {
        Self::OUTCOME
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        let expected = context.case.expected.as_ref();
        let reference = match Reference::for_judge(expected) {
            Ok(reference) => reference,
            Err(reason) => return Ok(vec![Outcome::undefined(Self::OUTCOME, reason)]),
        };
        if let Some(reason) = context.output.unanswered() {
            return Ok(vec![Outcome::undefined(Self::OUTCOME, reason)]);
        }
        let judged = Judged {
            question: &JudgedQuestion::of(context, self.most).text(),
            reference,
            accepted: Reference::accepted(expected),
            answerable: expected.is_none_or(|expected| expected.answerable),
            answer: &context.output.plain(),
            refused: context.output.refused,
            repeat: context.repeat,
        };
        let verdict = self.judge.judge(judged).await;
        let verdict = record_judged(verdict, |it| &it.calls, Purpose::Judge, &context.scope)?;
        let outcome = Outcome::assertion(Self::OUTCOME, verdict.pass).because(verdict.reason);
        let evidence = counted(verdict.pass, verdict.votes);
        Ok(vec![outcome.on_evidence(evidence)])
    }

    fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
        let reference = Reference::for_judge(case.expected.as_ref());
        let equivalent = reference.ok().map(|_| Concern::assertion(Self::OUTCOME));
        Some(equivalent.into_iter().collect())
    }
}

/// The evidence of a verdict that was counted from votes; none if one judge gave it.
fn counted(pass: bool, votes: Vec<Vote>) -> Vec<Evidence> {
    if votes.is_empty() {
        return Vec::new();
    }
    vec![Evidence {
        text: "the answer agrees with the reference".to_owned(),
        verdict: if pass { "pass" } else { "fail" }.to_owned(),
        holds: pass,
        votes,
        ..Evidence::default()
    }]
}
