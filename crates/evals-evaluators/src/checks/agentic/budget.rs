//! `MaxToolCalls` and `MaxModelRequests`: whether an agent stayed within its budget of steps.

use evals::{Context, EvaluatorError, SpanTree, ValueKind};
use serde_json::{Value, json};

use super::steps::{self, NO_SPANS};
use crate::argument::{self, ArgumentError};
use crate::checks::check::{self, Check};
use crate::python::text;
use crate::{Arguments, Entry, Finding, Parameter, Untyped};

/// The metric that states the number of requests; it takes precedence over spans.
const REQUESTS: &str = "requests";

/// Counts the calls of tools.
#[derive(Debug)]
struct MaxToolCalls {
    budget: Budget,
    include_failed: bool,
}

/// Counts the requests to models.
#[derive(Debug)]
struct MaxModelRequests {
    budget: Budget,
}

/// The largest number of steps that passes.
#[derive(Debug)]
struct Budget {
    limit: f64,
    /// As reasons show it.
    shown: String,
}

pub(super) fn entries() -> [Entry; 2] {
    let count = || json!({"type": "integer", "minimum": 0});
    [
        check::lenient(
            "MaxToolCalls",
            "Passes if the agent made no more calls of tools than a number.",
            [
                Parameter::required("max_calls", count(), "The largest number of calls."),
                steps::include_failed(true),
                check::evaluation_name(),
            ],
            |arguments| {
                Ok(MaxToolCalls {
                    budget: Budget::read(arguments, "max_calls")?,
                    include_failed: argument::flag(arguments, "include_failed")?,
                })
            },
        ),
        check::lenient(
            "MaxModelRequests",
            "Passes if the agent made no more requests to models than a number.",
            [
                Parameter::required("max_requests", count(), "The largest number of requests."),
                check::evaluation_name(),
            ],
            |arguments| {
                let budget = Budget::read(arguments, "max_requests")?;
                Ok(MaxModelRequests { budget })
            },
        ),
    ]
}

impl Budget {
    fn read(arguments: &Arguments, name: &'static str) -> Result<Self, ArgumentError> {
        let written = arguments.value(name);
        let limit = match written {
            Value::Number(number) => number.as_f64(),
            // Python counts truth values among the integers.
            Value::Bool(truth) => Some(f64::from(u8::from(*truth))),
            Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
        };
        Ok(Self {
            limit: limit.ok_or_else(|| ArgumentError::new(name, "a number", written))?,
            shown: text(written),
        })
    }

    fn allows(&self, count: f64) -> bool {
        count <= self.limit
    }
}

impl Check for MaxToolCalls {
    const KIND: ValueKind = ValueKind::Assertion;

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let Some(spans) = steps::spans(context) else {
            return Ok(Finding::failed(NO_SPANS));
        };
        let calls = number(steps::tool_calls(spans, self.include_failed).len());
        let reason = format!("{calls} tool call(s), budget={}", self.budget.shown);
        Ok(Finding::passed(self.budget.allows(calls)).because(reason))
    }
}

impl Check for MaxModelRequests {
    const KIND: ValueKind = ValueKind::Assertion;

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let Some(spans) = steps::spans(context) else {
            return Ok(Finding::failed(NO_SPANS));
        };
        let (requests, source) = counted(context, spans);
        let budget = &self.budget;
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
        None => (number(steps::model_requests(spans)), "span tree"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody records 2^53 spans")]
fn number(count: usize) -> f64 {
    count as f64
}
