//! Why requests in batches get no reply.

use std::error::Error;

use evals::JournalError;
use evals_models::Failure;
use thiserror::Error;

use crate::traffic::AttemptError;

/// A failure in our words, and what it comes from.
#[derive(Debug, Error)]
#[error("{text}")]
struct Explained {
    text: String,
    source: Box<dyn Error + Send + Sync>,
}

/// A failure with this text before the error that it comes from.
pub(super) fn explained(
    failure: Failure,
    text: impl Into<String>,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> AttemptError {
    let (text, source) = (text.into(), source.into());
    AttemptError::new(failure, Explained { text, source })
}

/// A failure that ends the run, with the error that it comes from.
pub(super) fn terminal(
    text: impl Into<String>,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> AttemptError {
    explained(Failure::Terminal, text, source)
}

/// Without records a request could be paid for twice.
impl From<JournalError> for AttemptError {
    fn from(error: JournalError) -> Self {
        terminal("cannot record a batch", error)
    }
}
