//! `MaxDuration`: whether the task was fast enough.

use evals::{Context, EvaluatorError, ValueKind};
use serde_json::json;

use super::check::{self, Check};
use crate::argument::ArgumentError;
use crate::python::TimeDelta;
use crate::{Entry, Finding, Parameter, Untyped};

/// Compares the task's duration with a limit.
#[derive(Debug)]
struct MaxDuration {
    limit: TimeDelta,
}

pub(super) fn entry() -> Entry {
    let seconds = Parameter::required(
        "seconds",
        json!({"type": "number"}),
        "The longest time that the task may take, in seconds.",
    );
    check::lenient(
        "MaxDuration",
        "Passes if the task took no longer than a number of seconds. Fails as an evaluator if the time is not known.",
        [seconds],
        |arguments| {
            let seconds = arguments.value("seconds");
            let wrong = || ArgumentError::new("seconds", "a number of seconds", seconds);
            let limit = TimeDelta::of(seconds).ok_or_else(wrong)?;
            Ok(MaxDuration { limit })
        },
    )
}

impl Check for MaxDuration {
    const KIND: ValueKind = ValueKind::Assertion;

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        if let Some(reason) = context.untimed() {
            return Err(EvaluatorError::new(format!(
                "how long the task took is not known: {reason}"
            )));
        }
        let taken = TimeDelta::seconds(context.duration.as_secs_f64());
        // A duration that is too long for Python is longer than any limit.
        Ok(Finding::passed(
            taken.is_some_and(|taken| taken <= self.limit),
        ))
    }
}
