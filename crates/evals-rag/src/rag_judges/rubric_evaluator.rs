//! The evaluator of question answering that asks for the level of a rubric.

use std::sync::Arc;

use async_trait::async_trait;
use evals::{Case, Concern, Context, Evaluator, EvaluatorError, Outcome};

use super::judgement::Judgement;
use super::judges::RagJudges;
use super::rubric::{Graded, Rubric};
use crate::Qa;

/// Asks judges for the level of an answer by a rubric: a score, and whether it passes if the rubric says so. The calls are recorded under
/// the names of [`Purpose::Judge`](crate::Purpose::Judge).
///
/// Every answer is graded, refusals and answers to unanswerable questions too.
#[derive(Debug, Clone)]
pub struct RubricEvaluator {
    rubric: Arc<Rubric>,
    judges: Arc<RagJudges>,
    sees_reference: bool,
}

impl RubricEvaluator {
    /// Grades answers by `rubric`.
    pub fn new(rubric: Rubric, judges: Arc<RagJudges>) -> Self {
        Self {
            rubric: Arc::new(rubric),
            judges,
            sees_reference: false,
        }
    }

    /// Shows the judges the reference answer. Without one the score is undefined.
    #[must_use]
    pub fn with_reference(self) -> Self {
        Self {
            sees_reference: true,
            ..self
        }
    }

    fn undefined(&self, reason: &str) -> Vec<Outcome> {
        let pass = self.rubric.pass_name();
        let names = std::iter::once(self.rubric.name().to_owned()).chain(pass);
        names.map(|name| Outcome::undefined(name, reason)).collect()
    }
}

#[async_trait]
impl Evaluator<Qa> for RubricEvaluator {
    fn name(&self) -> &str {
        self.rubric.name()
    }

    async fn evaluate(&self, context: &Context<'_, Qa>) -> Result<Vec<Outcome>, EvaluatorError> {
        if let Some(reason) = context.output.unanswered() {
            return Ok(self.undefined(reason));
        }
        let expected = context.case.expected.as_ref();
        let reference = expected.and_then(|expected| expected.answer.as_deref());
        let reference = reference.filter(|_| self.sees_reference);
        if self.sees_reference && reference.is_none() {
            return Ok(self.undefined("no reference answer"));
        }
        let graded = Graded {
            question: &self.judges.asked(context).text(),
            answer: &context.output.plain(),
            reference,
            repeat: context.repeat,
        };
        let judged = self.judges.grade(&self.rubric, graded).await;
        Judgement::record(judged, &context.scope)
    }

    fn concerns(&self, case: &Case<Qa>) -> Option<Vec<Concern>> {
        let expected = case.expected.as_ref();
        let has_reference = expected.is_some_and(|expected| expected.answer.is_some());
        if self.sees_reference && !has_reference {
            return Some(Vec::new());
        }
        let score = Concern::score(self.rubric.name());
        let pass = self.rubric.pass_name().map(Concern::assertion);
        Some(std::iter::once(score).chain(pass).collect())
    }
}
