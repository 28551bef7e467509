//! Runs the report evaluators, after the cases.

use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::sync::Arc;

use futures::future::{Either, select};
use tokio_util::sync::CancellationToken;

use crate::{Domain, FailureKind, Report, ReportEvaluator, ReportEvaluatorFailure, TaskFailure};

/// Replaces the name of a report evaluator that panics when it is asked for its name.
const NAMELESS: &str = "report evaluator without a name";

/// Adds the analyses of all evaluators to a report. None of them sees the analyses of another.
pub(crate) async fn add<D: Domain>(
    report: &mut Report<D>,
    evaluators: &[Arc<dyn ReportEvaluator<D>>],
    cancellation: &CancellationToken,
) {
    let mut analyses = Vec::new();
    let mut failures = Vec::new();
    for evaluator in evaluators {
        // The call is inside the guarded future, because it may panic before it returns a future.
        let evaluation = async {
            let evaluated = evaluator.evaluate(report).await;
            evaluated.map_err(|error| error.error)
        };
        let evaluation = pin!(TaskFailure::guard(evaluation));
        // The evaluator is polled first: a cancellation drops only one that waits for something.
        let result = match select(evaluation, pin!(cancellation.cancelled())).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => {
                let message = "the run was interrupted".to_owned();
                Err(TaskFailure::of(FailureKind::Error, None, message))
            }
        };
        match result {
            Ok(mut made) => analyses.append(&mut made),
            Err(found) => failures.push(failure(&**evaluator, found)),
        }
    }
    report.analyses = analyses;
    report.report_evaluator_failures = failures;
}

fn failure<D: Domain>(
    evaluator: &dyn ReportEvaluator<D>,
    found: TaskFailure,
) -> ReportEvaluatorFailure {
    let name = panic::catch_unwind(AssertUnwindSafe(|| evaluator.name().to_owned()));
    let spec = panic::catch_unwind(AssertUnwindSafe(|| evaluator.spec()));
    ReportEvaluatorFailure {
        evaluator: name.unwrap_or_else(|_| NAMELESS.to_owned()),
        spec: spec.unwrap_or_default(),
        kind: found.kind,
        message: found.message,
    }
}
