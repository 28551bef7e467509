//! What a model's failure means to the framework.

use evals::{EvaluatorError, FailureClass, TaskError};
use evals_models::Failure;

use crate::SearchError;
use crate::answering::AnswerError;
use crate::judging::JudgeError;

impl AnswerError {
    /// The case's failure, with its class.
    pub(crate) fn of_task(self) -> TaskError {
        let class = class(self.failure.failure());
        let error = TaskError::new(self);
        match class {
            Some(class) => error.classed(class),
            None => error,
        }
    }
}

impl SearchError {
    /// The case's failure, with its class where a reranker failed.
    pub(crate) fn of_task(self) -> TaskError {
        let class = self.reranking().and_then(|error| class(error.failure));
        let error = TaskError::new(self);
        match class {
            Some(class) => error.classed(class),
            None => error,
        }
    }
}

impl JudgeError {
    /// The evaluator's failure, with its class.
    pub(crate) fn of_evaluator(self) -> EvaluatorError {
        let class = class(self.failure.failure());
        let error = EvaluatorError::new(self);
        match class {
            Some(class) => error.classed(class),
            None => error,
        }
    }
}

/// `None` for kinds of failures that the framework knows nothing about.
fn class(failure: Failure) -> Option<FailureClass> {
    match failure {
        Failure::Transient => Some(FailureClass::Transient),
        Failure::Terminal => Some(FailureClass::Terminal),
        Failure::Content => Some(FailureClass::Content),
        _ => None,
    }
}
