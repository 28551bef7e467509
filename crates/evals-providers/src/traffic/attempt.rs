//! The failure of one attempt, before anything is retried.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use evals_models::Failure;

/// The failure of one attempt, before anything is retried.
#[derive(Clone, Debug, Error)]
#[error("the attempt failed")]
pub struct AttemptError {
    /// Its class: whether another attempt may help.
    pub failure: Failure,
    /// The pause that the server asked for.
    pub retry_after: Option<Duration>,
    /// Whether the server is overloaded (429, 503, a timeout), so that fewer calls at once should be sent.
    pub overloaded: bool,
    /// Which calls a terminal failure ends.
    pub reach: Reach,
    /// Whether the server is away for now, as it is while it starts or loads a model. No call can succeed before it is back.
    pub away: bool,
    /// Whether the request was sent and its answer was lost, so that the server may charge for it.
    pub unanswered: bool,
    /// Whether the server was heard of.
    pub contact: Contact,
    /// The status of a refusal whose meaning is unknown. It is terminal if the server never sends anything else.
    pub unknown_status: Option<u16>,
    /// The error. All calls that a final refusal ends share it.
    pub source: Arc<dyn Error + Send + Sync>,
}

/// Which calls a terminal failure ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Every call to that model.
    #[default]
    Model,
    /// Every call with the same key, whichever model it asks: the key is wrong, or its quota is used up.
    Account,
}

/// Whether the server was heard of in an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contact {
    /// It accepted the connection or sent something, or the attempt never got that far.
    #[default]
    Heard,
    /// The attempt had too little time to tell.
    Unknown,
    /// Nobody accepts connections there, or nothing came within the time.
    Silent,
}

impl AttemptError {
    /// A failure of that class, with all other fields unset.
    pub fn new(failure: Failure, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::of(failure, source.into().into())
    }

    /// The same failure of another call.
    pub(crate) fn of(failure: Failure, source: Arc<dyn Error + Send + Sync>) -> Self {
        Self {
            failure,
            retry_after: None,
            overloaded: false,
            reach: Reach::Model,
            away: false,
            unanswered: false,
            contact: Contact::Heard,
            unknown_status: None,
            source,
        }
    }
}
