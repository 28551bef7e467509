//! Judging one output by all of its evaluators.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::join_all;

use crate::naming::unique_name;
use crate::{
    CaseOutcome, Context, Domain, Evaluator, EvaluatorError, EvaluatorFailure, Outcome, Value,
};

/// What the evaluators of one case said.
#[derive(Debug, Default)]
pub(super) struct Grading {
    pub(super) outcomes: Vec<CaseOutcome>,
    pub(super) failures: Vec<EvaluatorFailure>,
}

type Judgement = Result<Result<Vec<Outcome>, EvaluatorError>, Box<dyn Any + Send>>;

/// Asks the evaluators concurrently and keeps their answers in the evaluators' order.
pub(super) async fn grade<'a, D: Domain>(
    context: &Context<'_, D>,
    evaluators: impl Iterator<Item = &'a Arc<dyn Evaluator<D>>>,
) -> Grading {
    let judgements = join_all(evaluators.map(|evaluator| async move {
        // Both the call and its future are guarded.
        let judgement = AssertUnwindSafe(async { evaluator.evaluate(context).await })
            .catch_unwind()
            .await;
        (evaluator.name(), judgement)
    }));
    let mut grading = Grading::default();
    for (evaluator, judgement) in judgements.await {
        grading.add(evaluator, judgement);
    }
    grading
}

impl Grading {
    fn add(&mut self, evaluator: &str, judgement: Judgement) {
        match judgement {
            Ok(Ok(outcomes)) => {
                for outcome in outcomes {
                    self.add_outcome(evaluator, outcome);
                }
            }
            Ok(Err(error)) => self
                .failures
                .push(EvaluatorFailure::from_error(evaluator, error.get_ref())),
            Err(payload) => self
                .failures
                .push(EvaluatorFailure::from_panic(evaluator, &*payload)),
        }
    }

    fn add_outcome(&mut self, evaluator: &str, outcome: Outcome) {
        if let Value::Score(score) = outcome.value
            && !score.is_finite()
        {
            self.failures.push(EvaluatorFailure::not_finite(
                evaluator,
                &outcome.name,
                score,
            ));
            return;
        }
        let name = unique_name(outcome.name, |name| self.is_taken(name));
        let reason = match outcome.value {
            Value::Undefined => outcome
                .reason
                .or_else(|| Some("no reason given".to_owned())),
            Value::Assertion(_) | Value::Score(_) | Value::Label(_) => outcome.reason,
        };
        self.outcomes.push(CaseOutcome {
            name,
            evaluator: evaluator.to_owned(),
            value: outcome.value,
            reason,
        });
    }

    /// A failed evaluator keeps its name, or the next evaluator of that name would answer in its place.
    fn is_taken(&self, name: &str) -> bool {
        self.outcomes.iter().any(|outcome| outcome.name == name)
            || self
                .failures
                .iter()
                .any(|failure| failure.evaluator == name)
    }
}
