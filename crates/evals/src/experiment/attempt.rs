//! One run of one case: the task, then its evaluators.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;

use super::grading::{self, Grading};
use super::roster::{self, Enrolled};
use super::timeout::Clock;
use crate::recording::Ledger;
use crate::{Case, CaseReport, Context, Domain, TaskError, TaskFailure, TaskResult, TaskScope};

/// Runs the task and judges its output; the report holds every failure.
pub(super) async fn run<D, T, F>(
    task: &T,
    case: &Arc<Case<D>>,
    repeat: u32,
    shared: &[Enrolled<D>],
    clock: &Clock<'_>,
) -> CaseReport<D>
where
    D: Domain,
    T: Fn(Arc<Case<D>>, TaskScope) -> F + Sync,
    F: Future<Output = Result<D::Output, TaskError>> + Send,
{
    let own = roster::own(case);
    let scope = TaskScope::of_repeat(repeat);
    let started = Instant::now();
    let attempt = guarded(task, Arc::clone(case), scope.clone());
    let result = clock.task(attempt).await;
    let duration = started.elapsed();
    let mut ledger = Ledger::default();
    ledger.add(scope.take_notes());
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
            grading::grade(&context, own.iter().chain(shared), clock).await
        }
        Err(_) => Grading::of_failed_task(case, own.iter().chain(shared)),
    };
    grading
        .notes
        .into_iter()
        .for_each(|notes| ledger.add(notes));
    let recording = ledger.recording;
    CaseReport {
        id: case.id.clone(),
        repeat,
        input: case.input.clone(),
        expected: case.expected.clone(),
        metadata: case.metadata.clone(),
        result: result.map_or_else(TaskResult::Failure, TaskResult::Output),
        own_evaluators: own.into_iter().map(|enrolled| enrolled.identity).collect(),
        outcomes: grading.outcomes,
        evaluator_failures: grading.failures,
        missed: grading.missed,
        duration,
        timings: recording.timings,
        metrics: recording.metrics,
        undefined_metrics: ledger.undefined,
        attributes: recording.attributes,
        spans: recording.spans,
    }
}

/// Runs the task and turns an error or a panic into a failure.
async fn guarded<D, T, F>(
    task: &T,
    case: Arc<Case<D>>,
    scope: TaskScope,
) -> Result<D::Output, TaskFailure>
where
    D: Domain,
    T: Fn(Arc<Case<D>>, TaskScope) -> F + Sync,
    F: Future<Output = Result<D::Output, TaskError>> + Send,
{
    // The call is inside the guarded future, because a closure may panic before it returns a future.
    let attempt = async { task(case, scope).await };
    match AssertUnwindSafe(attempt).catch_unwind().await {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(error)) => Err(TaskFailure::from_error(&error)),
        Err(payload) => Err(TaskFailure::from_panic(&*payload)),
    }
}
