//! Runs all evaluators on one output.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};

use futures::FutureExt as _;
use futures::future::join_all;
use tokio::time::sleep;

use super::protocol::RunProtocol;
use super::roster::Enrolled;
use super::timeout::Clock;
use crate::naming::Names;
use crate::recording::Notes;
use crate::{
    Case, CaseOutcome, Context, Direction, Domain, EvaluatorError, EvaluatorFailure, FailureKind,
    Missed, MissedOutcome, Outcome, RetriedEvaluator, TaskFailure, TaskScope, Value,
};

/// The results of the evaluators of one case.
#[derive(Debug, Default)]
pub(super) struct Grading {
    pub(super) outcomes: Vec<CaseOutcome>,
    pub(super) failures: Vec<EvaluatorFailure>,
    /// Outcomes that are missing because of a failure.
    pub(super) missed: Vec<Missed>,
    /// The evaluators that ran more than once.
    pub(super) retried: Vec<RetriedEvaluator>,
    /// The evaluators' recordings, in their order.
    pub(super) notes: Vec<Notes>,
}

/// Outcomes, each with its better direction.
type Outcomes = Vec<(Outcome, Direction)>;

/// The result of one evaluator.
enum Judgement {
    /// It returned outcomes, or an error together with unaffected outcomes.
    Returned(Outcomes, Option<EvaluatorError>),
    Panicked(Box<dyn Any + Send>),
    /// The runner dropped it because the case ran out of time.
    OutOfTime(EvaluatorError),
}

/// The last attempt of one evaluator.
struct EvaluatorAttempt {
    judgement: Judgement,
    attempts: u32,
    notes: Notes,
    /// The run was stopped before a retry.
    abandoned: bool,
}

/// Runs the evaluators concurrently and keeps their results in the order of the evaluators. `None` if the run was stopped before
/// a retry.
pub(super) async fn grade<'a, D: Domain>(
    context: &Context<'_, D>,
    evaluators: impl Iterator<Item = &'a Enrolled<D>>,
    clock: Clock<'_>,
    protocol: &RunProtocol<D>,
) -> Option<Grading> {
    let judgements = join_all(evaluators.map(|enrolled| async move {
        (enrolled, tried(context, enrolled, clock, protocol).await)
    }));
    let mut grading = Grading::default();
    for (enrolled, judged) in judgements.await {
        if judged.abandoned {
            return None;
        }
        if judged.attempts > 1 {
            grading.retried.push(RetriedEvaluator {
                evaluator: enrolled.name().to_owned(),
                origin: enrolled.origin,
                attempts: judged.attempts,
            });
        }
        grading.add(context.case, enrolled, judged.judgement);
        grading.notes.push(judged.notes);
    }
    Some(grading)
}

/// Runs one evaluator until it succeeds, the attempts are used up or the time is up.
async fn tried<D: Domain>(
    context: &Context<'_, D>,
    enrolled: &Enrolled<D>,
    clock: Clock<'_>,
    protocol: &RunProtocol<D>,
) -> EvaluatorAttempt {
    let fresh = || Context {
        scope: TaskScope::of_repeat(context.repeat),
        ..context.clone()
    };
    let mut last = fresh();
    let mut attempts = 0;
    let mut abandoned = false;
    let retry = protocol.retry_evaluators.as_ref();
    let mut pauses =
        retry.map(|retry| retry.pauses(&context.case.id, context.repeat, enrolled.name()));
    let all = async {
        loop {
            attempts += 1;
            let judgement = judge(enrolled, &last).await;
            let Judgement::Returned(_, Some(error)) = &judgement else {
                return judgement;
            };
            let pause = pauses.as_mut().and_then(|it| it.after(error.class()));
            let Some(pause) = pause else {
                return judgement;
            };
            abandoned = protocol.stop.is_set();
            if !abandoned {
                sleep(pause).await;
                abandoned = protocol.stop.is_set();
            }
            if abandoned {
                return judgement;
            }
            last = fresh();
        }
    };
    let class = |judgement: &Judgement| match judgement {
        Judgement::Returned(outcomes, Some(error)) if outcomes.is_empty() => error.class(),
        _ => None,
    };
    let judgement = clock.evaluator(all, context.duration, class).await;
    EvaluatorAttempt {
        judgement: judgement.unwrap_or_else(Judgement::OutOfTime),
        attempts,
        notes: last.scope.take_notes(),
        abandoned,
    }
}

/// Runs one evaluator. A panic in its `name` counts as a panic of the evaluator.
async fn judge<D: Domain>(enrolled: &Enrolled<D>, context: &Context<'_, D>) -> Judgement {
    if let Some(message) = &enrolled.name_panic {
        return Judgement::Panicked(Box::new(message.clone()));
    }
    let evaluator = &enrolled.evaluator;
    // Both the calls and the future are guarded against panics.
    let judgement = async {
        let (outcomes, error) = match evaluator.evaluate(context).await {
            Ok(outcomes) => (outcomes, None),
            Err(error) => (error.outcomes().to_vec(), Some(error)),
        };
        let outcomes = outcomes.into_iter().map(|outcome| {
            let better = evaluator.better(&outcome.name);
            (outcome, better)
        });
        Judgement::Returned(outcomes.collect(), error)
    };
    let judgement = AssertUnwindSafe(judgement).catch_unwind().await;
    judgement.unwrap_or_else(Judgement::Panicked)
}

impl Grading {
    /// Grades a case whose task failed: it has only missing outcomes.
    pub(super) fn of_failed_task<'a, D: Domain>(
        case: &Case<D>,
        evaluators: impl Iterator<Item = &'a Enrolled<D>>,
    ) -> Self {
        Self {
            missed: evaluators
                .filter_map(|enrolled| missed(enrolled, case))
                .collect(),
            ..Self::default()
        }
    }

    fn add<D: Domain>(&mut self, case: &Case<D>, enrolled: &Enrolled<D>, judgement: Judgement) {
        let failures = self.failures.len();
        self.add_judgement(enrolled, judgement);
        if self.failures.len() > failures {
            self.missed.extend(missed(enrolled, case));
        }
    }

    fn add_judgement<D: Domain>(&mut self, enrolled: &Enrolled<D>, judgement: Judgement) {
        let failed =
            |error: EvaluatorError| failure_of(enrolled, TaskFailure::from_error(&error.error));
        match judgement {
            Judgement::Returned(mut outcomes, error) => {
                tell_apart(&mut outcomes);
                for (outcome, better) in outcomes {
                    self.add_outcome(enrolled, outcome, better);
                }
                self.failures.extend(error.map(failed));
            }
            Judgement::OutOfTime(error) => self.failures.push(failed(error)),
            Judgement::Panicked(payload) => {
                let failure = TaskFailure::from_panic(&*payload);
                self.failures.push(failure_of(enrolled, failure));
            }
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
            let message = format!("score `{}` is not finite: {score}", outcome.name);
            let failure = TaskFailure::of(FailureKind::NotFinite, None, message);
            self.failures.push(failure_of(enrolled, failure));
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
            evaluator: enrolled.name().to_owned(),
            origin: enrolled.origin,
            better,
            value: outcome.value,
            reason,
            evidence: outcome.evidence,
        });
    }
}

/// A failure of an evaluator.
fn failure_of<D: Domain>(enrolled: &Enrolled<D>, failure: TaskFailure) -> EvaluatorFailure {
    EvaluatorFailure {
        evaluator: enrolled.name().to_owned(),
        origin: enrolled.origin,
        kind: failure.kind,
        class: failure.class,
        message: failure.message,
    }
}

/// The outcomes that an evaluator declares for a case, if it declares any.
fn missed<D: Domain>(enrolled: &Enrolled<D>, case: &Case<D>) -> Option<Missed> {
    if enrolled.name_panic.is_some() {
        return None;
    }
    let evaluator = &enrolled.evaluator;
    let outcomes = || {
        let concerns = evaluator.concerns(case)?.into_iter();
        let outcomes = concerns.map(|concern| MissedOutcome {
            better: evaluator.better(&concern.outcome),
            name: concern.outcome,
            given_name: None,
            kind: concern.kind,
        });
        Some(outcomes.collect())
    };
    let outcomes = panic::catch_unwind(AssertUnwindSafe(outcomes)).ok()??;
    Some(Missed {
        evaluator: enrolled.name().to_owned(),
        origin: enrolled.origin,
        outcomes,
    })
}

/// Numbers outcomes of one evaluator that have equal names. A score keeps its number even if it is dropped later, because
/// the next one would take the number otherwise.
fn tell_apart(outcomes: &mut [(Outcome, Direction)]) {
    if outcomes.len() > 1 {
        let mut names = Names::default();
        for (outcome, _) in outcomes {
            outcome.name = names.claim(&outcome.name);
        }
    }
}
