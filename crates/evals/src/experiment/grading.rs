//! Judging one output by all of its evaluators.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use futures::future::join_all;

use super::roster::Enrolled;
use crate::naming::Names;
use crate::notes::Notes;
use crate::{
    CaseOutcome, Context, Direction, Domain, EvaluatorError, EvaluatorFailure, Outcome, TaskScope,
    Value,
};

/// What the evaluators of one case said.
#[derive(Debug, Default)]
pub(super) struct Grading {
    pub(super) outcomes: Vec<CaseOutcome>,
    pub(super) failures: Vec<EvaluatorFailure>,
    /// What the evaluators noted down, in their order.
    pub(super) notes: Vec<Notes>,
}

/// Outcomes with the better end of each.
type Outcomes = Vec<(Outcome, Direction)>;

type Judgement = Result<Result<Outcomes, EvaluatorError>, Box<dyn Any + Send>>;

/// Asks the evaluators concurrently and keeps their answers in the evaluators' order.
pub(super) async fn grade<'a, D: Domain>(
    context: &Context<'_, D>,
    evaluators: impl Iterator<Item = &'a Enrolled<D>>,
) -> Grading {
    let judgements = join_all(evaluators.map(|enrolled| async move {
        let context = Context {
            scope: TaskScope::of_repeat(context.repeat),
            ..context.clone()
        };
        let judgement = judge(enrolled, &context).await;
        (enrolled, judgement, context.scope.take_notes())
    }));
    let mut grading = Grading::default();
    for (enrolled, judgement, notes) in judgements.await {
        grading.add(enrolled, judgement);
        grading.notes.push(notes);
    }
    grading
}

/// An evaluator's answer, or the panic that came instead of its name or of the answer.
async fn judge<D: Domain>(enrolled: &Enrolled<D>, context: &Context<'_, D>) -> Judgement {
    if let Some(message) = &enrolled.name_panic {
        return Err(Box::new(message.clone()));
    }
    let evaluator = &enrolled.evaluator;
    // The calls are guarded as well as the future.
    let judgement = async {
        let outcomes = evaluator.evaluate(context).await?;
        let outcomes = outcomes.into_iter().map(|outcome| {
            let better = evaluator.better(&outcome.name);
            (outcome, better)
        });
        Ok(outcomes.collect())
    };
    AssertUnwindSafe(judgement).catch_unwind().await
}

impl Grading {
    fn add<D: Domain>(&mut self, enrolled: &Enrolled<D>, judgement: Judgement) {
        match judgement {
            Ok(Ok(mut outcomes)) => {
                tell_apart(&mut outcomes);
                for (outcome, better) in outcomes {
                    self.add_outcome(enrolled, outcome, better);
                }
            }
            Ok(Err(error)) => self.failures.push(EvaluatorFailure::from_error(
                &enrolled.name,
                enrolled.origin,
                &error,
            )),
            Err(payload) => self.failures.push(EvaluatorFailure::from_panic(
                &enrolled.name,
                enrolled.origin,
                &*payload,
            )),
        }
    }

    fn add_outcome<D: Domain>(
        &mut self,
        enrolled: &Enrolled<D>,
        outcome: Outcome,
        better: Direction,
    ) {
        if let Value::Score(score) = outcome.value
            && !score.is_finite()
        {
            self.failures.push(EvaluatorFailure::not_finite(
                &enrolled.name,
                enrolled.origin,
                &outcome.name,
                score,
            ));
            return;
        }
        let reason = match outcome.value {
            Value::Undefined => outcome
                .reason
                .or_else(|| Some("no reason given".to_owned())),
            Value::Assertion(_) | Value::Score(_) | Value::Label(_) => outcome.reason,
        };
        self.outcomes.push(CaseOutcome {
            name: outcome.name,
            given_name: None,
            evaluator: enrolled.name.clone(),
            origin: enrolled.origin,
            better,
            value: outcome.value,
            reason,
        });
    }
}

/// Numbers an evaluator's outcomes of equal names. A score that is dropped later keeps its number, or the next one of that
/// name would take its place.
fn tell_apart(outcomes: &mut [(Outcome, Direction)]) {
    if outcomes.len() > 1 {
        let mut names = Names::default();
        for (outcome, _) in outcomes {
            outcome.name = names.claim(&outcome.name);
        }
    }
}
