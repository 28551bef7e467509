//! Runs the report evaluators, after the cases.

use std::panic::{self, AssertUnwindSafe};
use std::pin::pin;
use std::sync::Arc;

use evals_guard::panics;
use evals_messages::chain;
use futures::FutureExt as _;
use futures::future::{Either, select};
use tokio_util::sync::CancellationToken;

use crate::{Domain, FailureKind, Report, ReportEvaluator, ReportEvaluatorFailure};

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
        // The evaluator is polled first: a cancellation drops only one that waits for something.
        let evaluation = pin!(evaluated(&**evaluator, report));
        let result = match select(evaluation, pin!(cancellation.cancelled())).await {
            Either::Left((result, _)) => result,
            Either::Right(_) => Err((FailureKind::Error, "the run was interrupted".to_owned())),
        };
        match result {
            Ok(mut made) => analyses.append(&mut made),
            Err((kind, message)) => failures.push(failure(&**evaluator, kind, message)),
        }
    }
    report.analyses = analyses;
    report.report_evaluator_failures = failures;
}

async fn evaluated<D: Domain>(
    evaluator: &dyn ReportEvaluator<D>,
    report: &Report<D>,
) -> Result<Vec<crate::Analysis>, (FailureKind, String)> {
    // The call is inside the guarded future, because it may panic before it returns a future.
    let evaluation = async { evaluator.evaluate(report).await };
    match AssertUnwindSafe(evaluation).catch_unwind().await {
        Ok(Ok(analyses)) => Ok(analyses),
        Ok(Err(error)) => Err((FailureKind::Error, chain(error.get_ref()))),
        Err(payload) => Err((FailureKind::Panic, panics::message(&*payload))),
    }
}

fn failure<D: Domain>(
    evaluator: &dyn ReportEvaluator<D>,
    kind: FailureKind,
    message: String,
) -> ReportEvaluatorFailure {
    let name = panic::catch_unwind(AssertUnwindSafe(|| evaluator.name().to_owned()));
    let spec = panic::catch_unwind(AssertUnwindSafe(|| evaluator.spec()));
    ReportEvaluatorFailure {
        evaluator: name.unwrap_or_else(|_| NAMELESS.to_owned()),
        spec: spec.unwrap_or_default(),
        kind,
        message,
    }
}
