//! Why a target gave no usable reply.

use std::error::Error;
use std::fmt;

use evals::{FailureClass, TaskError};
use evals_models::Failure;

/// Why a target gave no usable reply.
#[derive(Debug)]
pub struct TargetError {
    error: Box<dyn Error + Send + Sync>,
    class: FailureClass,
}

impl TargetError {
    /// Wraps an error.
    ///
    /// [`Terminal`](FailureClass::Terminal) ends the run, because every other case would meet the same error; a later run asks
    /// again after [`Transient`](FailureClass::Transient).
    pub fn new(class: FailureClass, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            error: error.into(),
            class,
        }
    }

    /// Wraps the failure of a call to a server.
    pub fn of_call(failure: Failure, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let class = match failure {
            Failure::Transient => FailureClass::Transient,
            Failure::Terminal => FailureClass::Terminal,
            Failure::Content => FailureClass::Content,
        };
        Self::new(class, error)
    }

    /// The consequence of the error for other cases.
    pub fn class(&self) -> FailureClass {
        self.class
    }

    /// The error of the task that asked.
    pub fn into_task_error(self) -> TaskError {
        TaskError::new(self.error).classed(self.class)
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(formatter)
    }
}

impl Error for TargetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
