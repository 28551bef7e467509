//! Failures as data: errors and panics in the form that a report holds.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use evals_guard::panics;
use evals_messages::chain;
use futures::FutureExt as _;
use serde::{Deserialize, Serialize};

use crate::{EvaluatorOrigin, EvaluatorSpec, FailureClass, TaskError};

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
        Self::of(FailureKind::Error, error.class(), chain(error.get_ref()))
    }

    pub(crate) fn from_panic(payload: &(dyn Any + Send)) -> Self {
        Self::of(FailureKind::Panic, None, panics::message(payload))
    }

    pub(crate) fn of(kind: FailureKind, class: Option<FailureClass>, message: String) -> Self {
        Self {
            kind,
            class,
            message,
        }
    }

    /// Runs code of a user, and turns an error or a panic into a failure.
    pub(crate) async fn guard<T>(
        code: impl Future<Output = Result<T, TaskError>>,
    ) -> Result<T, Self> {
        match AssertUnwindSafe(code).catch_unwind().await {
            Ok(result) => result.map_err(|error| Self::from_error(&error)),
            Err(payload) => Err(Self::from_panic(&*payload)),
        }
    }
}
