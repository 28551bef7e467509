//! The evaluator of question answering that asks decomposed judges.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};

use super::conversation::LastTurns;
use super::judgement::Judgement;
use super::judges::RagJudges;
use super::material::{CitedSentence, Material};
use super::measure::JudgedMeasure;
use super::nuggets::NuggetBank;
use super::pieces::NumberedPassage;
use crate::{Missing, Qa};

/// Asks decomposed judges for one measure of an answer. The calls are recorded under the names of [`Purpose::Judge`](crate::Purpose::Judge).
#[derive(Debug, Clone)]
pub struct Decomposed {
    measure: JudgedMeasure,
    judges: Arc<RagJudges>,
    last_turns: LastTurns,
}

impl Decomposed {
    /// Asks `judges` for `measure`. Evaluators that share their judges also share the claims of a case.
    pub fn new(measure: JudgedMeasure, judges: Arc<RagJudges>) -> Self {
        Self {
            measure,
            judges,
            last_turns: LastTurns::default(),
        }
    }

    /// Asks about conversations at these turns. [`JudgedMeasure::Conversation`] has no outcome at any other.
    #[must_use]
    pub fn at(self, last_turns: LastTurns) -> Self {
        Self { last_turns, ..self }
    }

    fn is_asked(&self, case: &Case<Qa>) -> bool {
        !self.measure.judges_conversations() || self.last_turns.ends(&case.metadata.0)
    }
}

#[async_trait]
impl Evaluator<Qa> for Decomposed {
    fn name(&self) -> &'static str {
        self.measure.name()
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        if !self.is_asked(context.case) {
            return Ok(Vec::new());
        }
        let expected = context.case.expected.as_ref();
        let answer = context.output;
        let asked = self.judges.asked(context);
        let without_answers = asked.without_answers();
        let (said, question) = if self.measure.judges_conversations() {
            asked.last_exchange()
        } else {
            (None, asked.text())
        };
        let plain = answer.plain();
        let passages: Vec<NumberedPassage<'_>> = (1..)
            .zip(&answer.passages)
            .map(|(number, passage)| NumberedPassage {
                number,
                title: passage.title.as_deref(),
                text: &passage.text,
            })
            .collect();
        let cited = CitedSentence::all(&answer.text, passages.len());
        let unlisted = answer.missing.contains(&Missing::Documents);
        let material = Material {
            question: &question,
            without_answers: &without_answers,
            answerable: expected.is_none_or(|expected| expected.answerable),
            reference: expected.and_then(|expected| expected.answer.as_deref()),
            answer: match answer.unanswered() {
                Some(reason) => Err(reason),
                None => Ok(&plain),
            },
            refused: answer.refused,
            passages: if unlisted {
                Err(Missing::Documents.reason())
            } else {
                Ok(&passages)
            },
            cited: &cited,
            nuggets: expected.and_then(NuggetBank::of_reference),
            conversation: said.as_deref(),
            repeat: context.repeat,
        };
        let judged = self.judges.judge(self.measure, &material).await;
        Judgement::record(judged, &context.scope)
    }

    fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
        let expected = case.expected.as_ref();
        let answerable = expected.is_none_or(|expected| expected.answerable);
        let has_reference = expected.is_some_and(|expected| expected.answer.is_some());
        let has_nuggets = expected.and_then(NuggetBank::of_reference).is_some();
        let concerned = self.is_asked(case)
            && (answerable || self.measure.judges_unanswerable())
            && (has_reference || !self.measure.needs_reference())
            && (has_nuggets || !self.measure.needs_nuggets());
        let names = self.measure.outcomes().iter().filter(|_| concerned);
        let concern = |name: &&str| {
            if self.measure.judges_conversations() {
                Concern::assertion(*name)
            } else {
                Concern::score(*name)
            }
        };
        Some(names.map(concern).collect())
    }
}
