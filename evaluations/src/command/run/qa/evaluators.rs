//! What is said about every answer.

use std::sync::Arc;
use std::time::Duration;

use evals::{Case, Dataset, FailureClass, TaskError, TaskScope};
use evals_rag::qa::{
    Answer, CitationPrecision, CiteRate, Equivalence, ExactMatch, NumberMatch, Qa, Refusal, RougeL,
    TokenF1,
};
use futures::future::BoxFuture;

use super::models::Judging;

/// Adds every evaluator to `dataset`, the headline first.
pub(crate) fn enrol(dataset: Dataset<Qa>, judging: &Judging) -> Dataset<Qa> {
    let refusal = match &judging.refusals {
        Some(judge) => Refusal::new().judge(judge.clone()),
        None => Refusal::new(),
    };
    dataset
        .evaluator(Equivalence::new(Arc::clone(&judging.judge)))
        .evaluator(refusal)
        .evaluator(CiteRate)
        .evaluator(CitationPrecision)
        .evaluator(ExactMatch)
        .evaluator(TokenF1)
        .evaluator(RougeL)
        .evaluator(NumberMatch)
}

/// `task`, given up after `limit`. A case that takes that long may succeed later.
pub(super) fn within<T>(
    limit: Duration,
    task: T,
) -> impl Fn(Arc<Case<Qa>>, TaskScope) -> BoxFuture<'static, Result<Answer, TaskError>>
where
    T: Fn(Arc<Case<Qa>>, TaskScope) -> BoxFuture<'static, Result<Answer, TaskError>>,
{
    move |case, scope| {
        let attempt = task(case, scope);
        Box::pin(async move {
            if let Ok(result) = tokio::time::timeout(limit, attempt).await {
                return result;
            }
            let message = format!(
                "no answer within {} s; `evaluations.case_timeout` sets how long a case may take",
                limit.as_secs_f64()
            );
            Err(TaskError::new(message).classed(FailureClass::Transient))
        })
    }
}
