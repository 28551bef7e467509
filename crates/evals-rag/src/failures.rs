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
    /// The case's failure. It has a class if a reranker failed, or if every further search would fail.
    pub(crate) fn of_task(self) -> TaskError {
        let class = if self.is_of_every_search() {
            Some(FailureClass::Terminal)
        } else {
            self.reranking().map(|error| class(error.failure))
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_every_search_ends_the_experiment() {
        let of_all = SearchError::of_every_search("the store is gone");
        assert_eq!(of_all.to_string(), "the store is gone");
        assert_eq!(of_all.of_task().class(), Some(FailureClass::Terminal));
        assert_eq!(SearchError::new("one").of_task().class(), None);
    }
}
