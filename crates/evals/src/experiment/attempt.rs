//! One run of one case: the hooks, the task, then its evaluators.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{Either, select};
use tokio::time::sleep;

use super::grading::{self, Grading};
use super::hooks::Hooks;
use super::protocol::RunProtocol;
use super::roster;
use super::timeout::Clock;
use crate::recording::Ledger;
use crate::{
    Case, CaseReport, Context, Domain, FailureKind, Prepared, TaskError, TaskFailure, TaskResult,
    TaskScope,
};

/// One repetition of one case, before it runs.
pub(super) struct Attempt<'a, D: Domain, T> {
    pub(super) task: &'a T,
    pub(super) case: &'a Arc<Case<D>>,
    pub(super) repeat: u32,
    pub(super) protocol: &'a RunProtocol<D>,
}

/// The attempts at a task so far.
struct Trial {
    /// The scope of the last attempt.
    scope: TaskScope,
    attempts: u32,
    /// The start of the last attempt.
    started: Instant,
    /// The message of the last failed attempt.
    failed: Option<String>,
    /// The run was stopped before a retry.
    abandoned: bool,
}

/// The end of a task.
struct Done<O> {
    result: Result<O, TaskFailure>,
    attempts: u32,
    duration: Duration,
    ledger: Ledger,
}

impl<D, T, F> Attempt<'_, D, T>
where
    D: Domain,
    T: Fn(Arc<Case<D>>, TaskScope) -> F + Sync,
    F: Future<Output = Result<D::Output, TaskError>> + Send,
{
    /// Runs the task and judges its output; the report holds every failure. `None` if the case counts as not run: because it was
    /// cancelled, or because the run was stopped before a retry.
    pub(super) async fn run(
        &self,
        cancelled: Pin<&mut impl Future<Output = ()>>,
    ) -> Option<CaseReport<D>> {
        let factory = self.protocol.lifecycle.as_deref();
        let (mut hooks, made) = Hooks::of(factory, self.case);
        let report = {
            // The case is polled first, so a finished case counts even if the cancellation arrives at the same instant. The
            // teardown begins only after a cancelled case is dropped.
            let judged = pin!(self.judged(&mut hooks, made));
            match select(judged, cancelled).await {
                Either::Left((report, _)) => report,
                Either::Right(_) => None,
            }
        };
        let clock = Clock::start(self.protocol.timeout.as_ref());
        let failure = hooks.teardown(report.as_ref(), clock).await;
        let mut report = report?;
        report.teardown_failure = failure;
        Some(report)
    }

    async fn judged(
        &self,
        hooks: &mut Hooks<D>,
        made: Result<(), TaskFailure>,
    ) -> Option<CaseReport<D>> {
        let Self { case, repeat, .. } = *self;
        let shared = &self.protocol.evaluators;
        let own = roster::own(case);
        let clock = Clock::start(self.protocol.timeout.as_ref());
        let Done {
            result,
            attempts,
            duration,
            mut ledger,
        } = self.done(hooks, made, clock).await?;
        let grading = match &result {
            Ok(output) => {
                let context = Context {
                    case,
                    output,
                    repeat,
                    duration,
                    recording: &ledger.recording,
                    scope: TaskScope::of_repeat(repeat),
                };
                let evaluators = own.iter().chain(shared);
                grading::grade(&context, evaluators, clock, self.protocol).await?
            }
            Err(_) => Grading::of_failed_task(case, own.iter().chain(shared)),
        };
        grading
            .notes
            .into_iter()
            .for_each(|notes| ledger.add(notes));
        let recording = ledger.recording;
        Some(CaseReport {
            id: case.id.clone(),
            repeat,
            input: case.input.clone(),
            expected: case.expected.clone(),
            metadata: case.metadata.clone(),
            cluster: case.cluster.clone(),
            result: result.map_or_else(TaskResult::Failure, TaskResult::Output),
            attempts,
            own_evaluators: own.into_iter().map(|enrolled| enrolled.identity).collect(),
            outcomes: grading.outcomes,
            evaluator_failures: grading.failures,
            retried_evaluators: grading.retried,
            missed: grading.missed,
            teardown_failure: None,
            duration,
            timings: recording.timings,
            metrics: recording.metrics,
            undefined_metrics: ledger.undefined,
            attributes: recording.attributes,
            spans: recording.spans,
        })
    }

    /// Runs the task between its hooks; `None` if the run was stopped before a retry.
    async fn done(
        &self,
        hooks: &mut Hooks<D>,
        made: Result<(), TaskFailure>,
        clock: Clock<'_>,
    ) -> Option<Done<D::Output>> {
        let ready = match made {
            Ok(()) => hooks.setup(self.case, clock).await,
            Err(failure) => Err(failure),
        };
        let mut done = match ready {
            Ok(()) => self.tried(clock).await?,
            Err(failure) => Done::failed(failure),
        };
        done.prepare(hooks, self.case, self.repeat, clock).await;
        Some(done)
    }

    /// Runs the task until it succeeds, the attempts are used up or the time is up; `None` if the run was stopped before a retry.
    async fn tried(&self, clock: Clock<'_>) -> Option<Done<D::Output>> {
        let mut trial = Trial {
            scope: TaskScope::of_repeat(self.repeat),
            attempts: 0,
            started: Instant::now(),
            failed: None,
            abandoned: false,
        };
        let mut result = clock.task(self.attempts(&mut trial)).await;
        if trial.abandoned {
            return None;
        }
        let duration = trial.started.elapsed();
        if let Some(message) = trial.failed
            && let Err(failure) = &mut result
        {
            // The time was up during a retry or the pause before it. What failed before says more than that.
            failure.message = format!("{}; before that: {message}", failure.message);
        }
        let notes = trial.scope.take_notes();
        let own = duration.saturating_sub(notes.left_out);
        let duration = notes.took.unwrap_or(own);
        let mut ledger = Ledger::default();
        ledger.add(notes);
        Some(Done {
            result,
            attempts: trial.attempts,
            duration,
            ledger,
        })
    }

    async fn attempts(&self, trial: &mut Trial) -> Result<D::Output, TaskFailure> {
        let Self { case, repeat, .. } = *self;
        let retry = self.protocol.retry_task.as_ref();
        let mut pauses = retry.map(|retry| retry.pauses(&case.id, repeat, ""));
        loop {
            trial.attempts += 1;
            trial.started = Instant::now();
            let (task, own) = (self.task, trial.scope.clone());
            // The call is inside the guarded future, because a closure may panic before it returns a future.
            let attempt = async { task(Arc::clone(case), own).await };
            let failure = match TaskFailure::guard(trial.scope.within(attempt)).await {
                Ok(output) => return Ok(output),
                Err(failure) => failure,
            };
            let is_error = failure.kind == FailureKind::Error;
            let pauses = pauses.as_mut().filter(|_| is_error);
            let Some(pause) = pauses.and_then(|pauses| pauses.after(failure.class)) else {
                trial.failed = None;
                return Err(failure);
            };
            trial.failed = Some(failure.message.clone());
            trial.abandoned = self.protocol.stop.is_set();
            if !trial.abandoned {
                sleep(pause).await;
                trial.abandoned = self.protocol.stop.is_set();
            }
            if trial.abandoned {
                return Err(failure);
            }
            trial.scope = TaskScope::of_repeat(repeat);
        }
    }
}

impl<O: crate::Payload> Done<O> {
    /// A task that did not run.
    fn failed(failure: TaskFailure) -> Self {
        Self {
            result: Err(failure),
            attempts: 0,
            duration: Duration::ZERO,
            ledger: Ledger::default(),
        }
    }

    /// Lets the hooks see the output before the evaluators do. Their failure replaces it.
    async fn prepare<D: Domain<Output = O>>(
        &mut self,
        hooks: &mut Hooks<D>,
        case: &Case<D>,
        repeat: u32,
        clock: Clock<'_>,
    ) {
        let Ok(output) = &mut self.result else {
            return;
        };
        let mut prepared = Prepared {
            case,
            repeat,
            duration: self.duration,
            output,
            recording: &mut self.ledger.recording,
        };
        let result = hooks.prepare(&mut prepared, clock).await;
        self.ledger.sift();
        if let Err(failure) = result {
            self.result = Err(failure);
        }
    }
}
