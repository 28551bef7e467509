//! Failures as data: what a report keeps of an error or a panic.

use std::any::Any;
use std::error::Error;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

/// Why a case has no output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailure {
    /// Whether the task returned an error or panicked.
    pub kind: FailureKind,
    /// The error with its causes, outermost first, joined by colons; or the panic's message.
    pub message: String,
}

/// Why an outcome is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluatorFailure {
    /// Name of the evaluator that failed.
    pub evaluator: String,
    /// Whether the evaluator returned an error, panicked or returned a value that no report can hold.
    pub kind: FailureKind,
    /// The error with its causes, outermost first, joined by colons; or the panic's message.
    pub message: String,
}

/// How something failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FailureKind {
    /// It returned an error.
    Error,
    /// It panicked.
    Panic,
    /// It returned a score or recorded a metric that is not finite.
    NotFinite,
}

impl TaskFailure {
    pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Self {
        Self {
            kind: FailureKind::Error,
            message: chain(error),
        }
    }

    pub(crate) fn from_panic(payload: &(dyn Any + Send)) -> Self {
        Self {
            kind: FailureKind::Panic,
            message: panic_message(payload),
        }
    }

    pub(crate) fn not_finite(metric: &str, value: f64) -> Self {
        Self {
            kind: FailureKind::NotFinite,
            message: format!("metric `{metric}` is not finite: {value}"),
        }
    }
}

impl EvaluatorFailure {
    pub(crate) fn from_error(evaluator: &str, error: &(dyn Error + 'static)) -> Self {
        Self {
            evaluator: evaluator.to_owned(),
            kind: FailureKind::Error,
            message: chain(error),
        }
    }

    pub(crate) fn from_panic(evaluator: &str, payload: &(dyn Any + Send)) -> Self {
        Self {
            evaluator: evaluator.to_owned(),
            kind: FailureKind::Panic,
            message: panic_message(payload),
        }
    }

    pub(crate) fn not_finite(evaluator: &str, score: &str, value: f64) -> Self {
        Self {
            evaluator: evaluator.to_owned(),
            kind: FailureKind::NotFinite,
            message: format!("score `{score}` is not finite: {value}"),
        }
    }
}

fn chain(error: &(dyn Error + 'static)) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Writing to a string cannot fail.
        let _ = write!(message, ": {error}");
        cause = error.source();
    }
    message
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("panicked without a message").to_owned()
}
