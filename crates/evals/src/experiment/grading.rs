//! Judging one output by all of its evaluators.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use futures::future::join_all;

use super::roster::Enrolled;
use crate::naming::Names;
use crate::{
    CaseOutcome, Context, Domain, EvaluatorError, EvaluatorFailure, FailureKind, Outcome, Value,
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
    evaluators: impl Iterator<Item = &'a Enrolled<D>>,
) -> Grading {
    let judgements = join_all(
        evaluators.map(|enrolled| async move { (enrolled, judge(enrolled, context).await) }),
    );
    let mut grading = Grading::default();
    for (enrolled, judgement) in judgements.await {
        grading.add(enrolled, judgement);
    }
    grading
}

/// An evaluator's answer, or the panic that came instead of its name or of the answer.
async fn judge<D: Domain>(enrolled: &Enrolled<D>, context: &Context<'_, D>) -> Judgement {
    if let Some(message) = &enrolled.name_panic {
        return Err(Box::new(message.clone()));
    }
    // Both the call and its future are guarded.
    AssertUnwindSafe(async { enrolled.evaluator.evaluate(context).await })
        .catch_unwind()
        .await
}

impl Grading {
    fn add<D: Domain>(&mut self, enrolled: &Enrolled<D>, judgement: Judgement) {
        match judgement {
            Ok(Ok(mut outcomes)) => {
                tell_apart(&mut outcomes);
                for outcome in outcomes {
                    self.add_outcome(enrolled, outcome);
                }
            }
            Ok(Err(error)) => self.fail(enrolled, FailureKind::error(error.get_ref())),
            Err(payload) => self.fail(enrolled, FailureKind::panic(&*payload)),
        }
    }

    fn add_outcome<D: Domain>(&mut self, enrolled: &Enrolled<D>, outcome: Outcome) {
        if let Value::Score(score) = outcome.value
            && !score.is_finite()
        {
            return self.fail(enrolled, FailureKind::not_finite(&outcome.name, score));
        }
        let reason = match outcome.value {
            Value::Undefined => outcome
                .reason
                .or_else(|| Some("no reason given".to_owned())),
            Value::Assertion(_) | Value::Score(_) | Value::Label(_) => outcome.reason,
        };
        self.outcomes.push(CaseOutcome {
            name: outcome.name,
            evaluator: enrolled.name.clone(),
            origin: enrolled.origin,
            value: outcome.value,
            reason,
        });
    }

    fn fail<D: Domain>(&mut self, enrolled: &Enrolled<D>, (kind, message): (FailureKind, String)) {
        self.failures.push(EvaluatorFailure {
            evaluator: enrolled.name.clone(),
            origin: enrolled.origin,
            kind,
            message,
        });
    }
}

/// Numbers an evaluator's outcomes of equal names. A score that is dropped later keeps its number, or the next one of that
/// name would take its place.
fn tell_apart(outcomes: &mut [Outcome]) {
    if outcomes.len() > 1 {
        let mut names = Names::default();
        for outcome in outcomes {
            outcome.name = names.claim(&outcome.name);
        }
    }
}
