//! `MaxDuration`: whether the task was fast enough.

use evals::{Context, EvaluatorError};
use serde::Deserialize;
use serde_json::json;

use super::check::{self, Check};
use crate::python::TimeDelta;
use crate::{Entry, Finding, Parameter, Untyped};

/// Compares the task's duration with a limit.
#[derive(Debug, Deserialize)]
struct MaxDuration {
    seconds: TimeDelta,
}

pub(super) fn entry() -> Entry {
    let seconds = Parameter::required(
        "seconds",
        json!({"type": "number"}),
        "The longest time that the task may take, in seconds.",
    );
    check::lenient::<MaxDuration>(
        "MaxDuration",
        "Passes if the task took at most a given number of seconds. If the time is not known, the evaluator fails.",
        [seconds],
    )
}

impl Check for MaxDuration {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        if let Some(reason) = context.untimed() {
            return Err(EvaluatorError::new(format!(
                "how long the task took is not known: {reason}"
            )));
        }
        let taken = TimeDelta::seconds(context.duration.as_secs_f64());
        // A duration that is too long for Python is longer than any limit.
        Ok(Finding::passed(
            taken.is_some_and(|taken| taken <= self.seconds),
        ))
    }
}
