//! Failures as data: errors and panics in the form that a report holds.

use std::any::Any;

use evals_guard::panics;
use evals_messages::chain;
use serde::{Deserialize, Serialize};

use crate::{EvaluatorError, EvaluatorOrigin, EvaluatorSpec, TaskError};

/// Why a case has no output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskFailure {
    /// Whether the task returned an error or panicked.
    pub kind: FailureKind,
    /// The consequence for other cases, where the task knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<FailureClass>,
    /// The error with its causes, outermost first, joined by colons; or the panic's message.
    pub message: String,
}

/// Why an outcome is missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvaluatorFailure {
    /// Name of the evaluator that failed.
    pub evaluator: String,
    /// The evaluator's origin in the run.
    #[serde(default)]
    pub origin: EvaluatorOrigin,
    /// Whether the evaluator returned an error, panicked, or returned a number that is not finite.
    pub kind: FailureKind,
    /// The consequence for other cases, where the evaluator knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<FailureClass>,
    /// The error with its causes, outermost first, joined by colons; or the panic's message.
    pub message: String,
}

/// Why an analysis is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportEvaluatorFailure {
    /// Name of the report evaluator that failed.
    pub evaluator: String,
    /// The evaluator as a dataset file would write it; `None` if no file can name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<EvaluatorSpec>,
    /// Whether it returned an error or panicked.
    pub kind: FailureKind,
    /// The error with its causes, outermost first, joined by colons; or the panic's message.
    pub message: String,
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FailureKind {
    /// It returned an error.
    Error,
    /// It panicked.
    Panic,
    /// It returned a score that is not finite.
    NotFinite,
}

impl TaskFailure {
    pub(crate) fn from_error(error: &TaskError) -> Self {
        Self {
            kind: FailureKind::Error,
            class: error.class(),
            message: chain(error.get_ref()),
        }
    }

    pub(crate) fn from_panic(payload: &(dyn Any + Send)) -> Self {
        Self {
            kind: FailureKind::Panic,
            class: None,
            message: panics::message(payload),
        }
    }
}

impl EvaluatorFailure {
    /// Converts an evaluator's error.
    pub(crate) fn from_error(
        evaluator: &str,
        origin: EvaluatorOrigin,
        error: &EvaluatorError,
    ) -> Self {
        Self {
            class: error.class(),
            ..Self::of(
                evaluator,
                origin,
                FailureKind::Error,
                chain(error.get_ref()),
            )
        }
    }

    /// Converts an evaluator's panic.
    pub(crate) fn from_panic(
        evaluator: &str,
        origin: EvaluatorOrigin,
        payload: &(dyn Any + Send),
    ) -> Self {
        let message = panics::message(payload);
        Self::of(evaluator, origin, FailureKind::Panic, message)
    }

    /// The failure of an evaluator that returned a score that is not finite.
    pub(crate) fn not_finite(
        evaluator: &str,
        origin: EvaluatorOrigin,
        score: &str,
        value: f64,
    ) -> Self {
        let message = format!("score `{score}` is not finite: {value}");
        Self::of(evaluator, origin, FailureKind::NotFinite, message)
    }

    fn of(evaluator: &str, origin: EvaluatorOrigin, kind: FailureKind, message: String) -> Self {
        Self {
            evaluator: evaluator.to_owned(),
            origin,
            kind,
            class: None,
            message,
        }
    }
}

/// The consequence of a failure for the remaining cases.
///
/// A task or an evaluator that knows the class adds it to its error: [`TaskError::classed`](crate::TaskError::classed),
/// [`EvaluatorError::classed`](crate::EvaluatorError::classed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// It may go away by itself: a timeout, a busy server.
    Transient,
    /// Every other case will fail in the same way: a wrong key, an empty account.
    Terminal,
    /// It affects only this case: an answer that cannot be read.
    Content,
}
