//! `MaxToolCalls` and `MaxModelRequests`: whether an agent stayed within its budget of steps.

use evals::{Context, EvaluatorError, SpanTree};
use evals_metrics::as_f64;
use serde::Deserialize;
use serde_json::{Value, json};

use super::steps::{self, NO_SPANS};
use crate::checks::check::{self, Check};
use crate::{Entry, Finding, Parameter, Untyped, python};

/// The metric that states the number of requests; it takes precedence over spans.
const REQUESTS: &str = "requests";

/// Counts the calls of tools.
#[derive(Debug, Deserialize)]
struct MaxToolCalls {
    max_calls: StepBudget,
    include_failed: bool,
}

/// Counts the requests to models.
#[derive(Debug, Deserialize)]
struct MaxModelRequests {
    max_requests: StepBudget,
}

/// The largest number of steps that passes.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
struct StepBudget {
    limit: f64,
    /// As reasons show it.
    shown: String,
}

pub(super) fn entries() -> [Entry; 2] {
    let count = || json!({"type": "integer", "minimum": 0});
    [
        check::lenient::<MaxToolCalls>(
            "MaxToolCalls",
            "Passes if the agent made at most a given number of tool calls.",
            [
                Parameter::required("max_calls", count(), "The largest number of calls."),
                steps::include_failed(true),
                Parameter::evaluation_name(),
            ],
        ),
        check::lenient::<MaxModelRequests>(
            "MaxModelRequests",
            "Passes if the agent made at most a given number of requests to models.",
            [
                Parameter::required("max_requests", count(), "The largest number of requests."),
                Parameter::evaluation_name(),
            ],
        ),
    ]
}

impl TryFrom<Value> for StepBudget {
    type Error = String;

    fn try_from(written: Value) -> Result<Self, String> {
        let limit = python::number(&written);
        Ok(Self {
            limit: limit.ok_or_else(|| format!("expected a number, found `{written}`"))?,
            shown: python::text(&written),
        })
    }
}

impl StepBudget {
    fn allows(&self, count: f64) -> bool {
        count <= self.limit
    }
}

impl Check for MaxToolCalls {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let Some(spans) = steps::spans(context) else {
            return Ok(Finding::failed(NO_SPANS));
        };
        let calls = as_f64(steps::tool_calls(spans, self.include_failed).len());
        let reason = format!("{calls} tool call(s), budget={}", self.max_calls.shown);
        Ok(Finding::passed(self.max_calls.allows(calls)).because(reason))
    }
}

impl Check for MaxModelRequests {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let Some(spans) = steps::spans(context) else {
            return Ok(Finding::failed(NO_SPANS));
        };
        let (requests, source) = counted(context, spans);
        let budget = &self.max_requests;
        let reason = format!(
            "{requests} model request(s) (from {source}), budget={}",
            budget.shown
        );
        Ok(Finding::passed(budget.allows(requests)).because(reason))
    }
}

/// The number of requests, and where it is from.
fn counted(context: &Context<'_, Untyped>, spans: &SpanTree) -> (f64, &'static str) {
    match context.recording.metrics.get(REQUESTS) {
        Some(requests) => (requests.trunc(), "ctx.metrics['requests']"),
        None => (as_f64(steps::model_requests(spans)), "span tree"),
    }
}
