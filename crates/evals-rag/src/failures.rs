//! Failures of models with the calls before them, and their class.

use std::error::Error;
use std::fmt;

use evals::{FailureClass, TaskError};
use evals_models::Failure;

use crate::{Call, SearchError};

/// A failure, with the calls made until then.
///
/// Shows the failure's message and causes.
#[derive(Debug)]
pub struct AfterCalls<F> {
    /// The failure.
    pub failure: F,
    /// Calls that returned, and that the provider charges for.
    pub calls: Vec<Call>,
}

/// A failure before the first call.
impl<F> From<F> for AfterCalls<F> {
    fn from(failure: F) -> Self {
        let calls = Vec::new();
        Self { failure, calls }
    }
}

impl<F: fmt::Display> fmt::Display for AfterCalls<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(formatter)
    }
}

impl<F: Error> Error for AfterCalls<F> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.failure.source()
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

/// The class of a model's failure.
pub(crate) fn class(failure: Failure) -> FailureClass {
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
