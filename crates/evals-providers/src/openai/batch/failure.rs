//! Why requests in batches get no reply.

use std::error::Error;

use evals::JournalError;
use evals_models::{ChatError, Failure, ModelIdentity};
use thiserror::Error;

use crate::traffic::{AttemptError, Refused};

/// A failure that several requests may share.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    pub(super) failure: Failure,
    pub(super) source: Refused,
}

/// A failure in our words, and what it comes from.
#[derive(Debug, Error)]
#[error("{text}")]
struct Explained {
    text: String,
    source: Box<dyn Error + Send + Sync>,
}

impl Cause {
    pub(super) fn new(failure: Failure, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let source = Refused::new(source.into());
        Self { failure, source }
    }

    /// A failure that ends the run, with the error that it comes from.
    pub(super) fn terminal(
        text: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::new(Failure::Terminal, explained(text, source))
    }

    /// The failure as that of one call of a model.
    pub(super) fn of_call(&self, model: &ModelIdentity) -> ChatError {
        ChatError {
            model: model.clone(),
            failure: self.failure,
            source: Box::new(self.source.clone()),
        }
    }
}

/// An error with this text before the error that it comes from.
pub(super) fn explained(
    text: impl Into<String>,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> Box<dyn Error + Send + Sync> {
    Box::new(Explained {
        text: text.into(),
        source: source.into(),
    })
}

impl From<AttemptError> for Cause {
    fn from(error: AttemptError) -> Self {
        Self::new(error.failure, error.source)
    }
}

/// Without records a request could be paid for twice.
impl From<JournalError> for Cause {
    fn from(error: JournalError) -> Self {
        Self::terminal("cannot record a batch", error)
    }
}
