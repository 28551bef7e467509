//! The failure of one attempt, before anything is retried.

use std::error::Error;
use std::time::Duration;

use thiserror::Error;

use evals_models::Failure;

/// One HTTP attempt's failure, before anything is retried.
#[derive(Debug, Error)]
#[error("the attempt failed")]
pub struct AttemptError {
    /// What may be done about it.
    pub failure: Failure,
    /// How long the server asked to be left alone.
    pub retry_after: Option<Duration>,
    /// Whether the server has more work than it can do (429, 503, a timeout), so that fewer calls at once should be sent.
    pub overloaded: bool,
    /// Of a terminal failure, for whom it is one.
    pub reach: Reach,
    /// Whether the server is away for now, as it is while it starts or loads a model: no call can succeed before it is back.
    pub away: bool,
    /// Whether the request was sent and its answer got lost, so that the server may have made one that has to be paid for.
    pub unanswered: bool,
    /// The status of a refusal that nobody knows the meaning of. Where nothing but the same one ever comes, it is terminal.
    pub unknown_status: Option<u16>,
    /// What happened.
    pub source: Box<dyn Error + Send + Sync>,
}

/// For whom a terminal failure is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// For every call of that model.
    #[default]
    Model,
    /// For every call with the same key, whichever model it asks: the key is wrong, its quota is used up.
    Account,
}

impl AttemptError {
    /// A failure of a server that is there, not overloaded, answered, and asks for no pause.
    pub fn new(failure: Failure, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            failure,
            retry_after: None,
            overloaded: false,
            reach: Reach::Model,
            away: false,
            unanswered: false,
            unknown_status: None,
            source: source.into(),
        }
    }
}
