//! The task of a case: asks the target.

use std::sync::Arc;

use evals::{Case, SpanTree, TaskError, TaskScope};
use evals_evaluators::Untyped;
use evals_targets::{Inputs, Reply, Request, Target, TargetIdentity};
use futures::future::BoxFuture;
use serde_json::Value;

use crate::eval_report::{INPUT_TOKENS, OUTPUT_TOKENS};

/// Asks `target` for the output of each case.
///
/// The output is the reply's `answer`. Everything else that a reply says is recorded for the evaluators.
pub(super) fn asking(
    target: Arc<dyn Target>,
) -> impl Fn(Arc<Case<Untyped>>, TaskScope) -> BoxFuture<'static, Result<Value, TaskError>> {
    move |case, scope| {
        let target = Arc::clone(&target);
        Box::pin(async move {
            let request = Request {
                id: case.id.to_string(),
                repeat: scope.repeat(),
                k: None,
                vector: None,
                inputs: Inputs::Value(case.input.clone()),
                conversation: None,
            };
            let reply = target.ask(&request).await;
            let reply = reply.map_err(evals_targets::TargetError::into_task_error)?;
            record(&reply, target.identity(), &scope);
            Ok(reply.answer.unwrap_or(Value::Null))
        })
    }
}

/// Records what the reply says besides its answer. Metrics of tokens have pydantic-evals' names.
///
/// A number that the reply states itself replaces the sum over its spans, so that nothing is counted twice.
fn record(reply: &Reply, target: &TargetIdentity, scope: &TaskScope) {
    for (name, sum) in reply.spans.iter().flat_map(SpanTree::metrics) {
        scope.metric(name, sum);
    }
    reply.record(target, scope);
    if let Some(usage) = &reply.usage {
        for (name, tokens) in [
            (INPUT_TOKENS, usage.input_tokens),
            (OUTPUT_TOKENS, usage.output_tokens),
        ] {
            #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
            scope.metric(name, tokens as f64);
        }
    }
    let facts = [
        ("documents", serde_json::to_value(&reply.documents)),
        ("citations", serde_json::to_value(&reply.citations)),
        ("refused", serde_json::to_value(reply.refused)),
    ];
    for (name, value) in facts {
        if let Ok(value) = value
            && !value.is_null()
        {
            scope.attribute(name, value);
        }
    }
}
