use std::error::Error;
use std::time::Duration;

use thiserror::Error;

use crate::Failure;

/// One HTTP attempt's failure, before anything is retried.
#[derive(Debug, Error)]
#[error("the attempt failed")]
pub struct AttemptError {
    /// What may be done about it.
    pub failure: Failure,
    /// How long the server asked to be left alone.
    pub retry_after: Option<Duration>,
    /// Whether the server has more work than it can do (429, 503), so that fewer calls at once should be sent.
    pub overloaded: bool,
    /// What happened.
    pub source: Box<dyn Error + Send + Sync>,
}

impl AttemptError {
    /// A failure of a server that is not overloaded and asks for no pause.
    pub fn new(failure: Failure, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            failure,
            retry_after: None,
            overloaded: false,
            source: source.into(),
        }
    }
}
