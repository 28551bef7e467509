//! Turns failures of models into errors of tasks and evaluators, with their class.

use evals::{EvaluatorError, FailureClass, TaskError};
use evals_models::Failure;

use crate::SearchError;
use crate::answering::AnswerError;
use crate::judging::JudgeError;

impl AnswerError {
    /// The case's failure, with its class.
    pub(crate) fn of_task(self) -> TaskError {
        let class = class(self.failure.failure());
        TaskError::new(self).classed(class)
    }
}

impl SearchError {
    /// The case's failure, with its class where a reranker failed.
    pub(crate) fn of_task(self) -> TaskError {
        let class = self.reranking().map(|error| class(error.failure));
        let error = TaskError::new(self);
        match class {
            Some(class) => error.classed(class),
            None => error,
        }
    }
}

impl JudgeError {
    /// The evaluator's failure, with its class.
    pub fn of_evaluator(self) -> EvaluatorError {
        let class = class(self.failure.failure());
        EvaluatorError::new(self).classed(class)
    }
}

fn class(failure: Failure) -> FailureClass {
    match failure {
        Failure::Transient => FailureClass::Transient,
        Failure::Terminal => FailureClass::Terminal,
        Failure::Content => FailureClass::Content,
    }
}
