//! Why an attempt failed, and why a call makes no further one.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use evals_messages::quantity;
use evals_models::Failure;
use thiserror::Error;

type Cause = Arc<dyn Error + Send + Sync>;

/// Why a call makes no further attempt, or why an attempt got no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// An attempt took too long.
    #[error("no answer within {}", seconds(*limit))]
    Unanswered {
        /// Its limit: the model's timeout, or the rest of `call_deadline`.
        limit: Duration,
    },
    /// All attempts failed.
    #[error("gave up after {}", quantity::of(*attempts, "attempt"))]
    Attempts {
        /// How many were made.
        attempts: u32,
        /// The failure of the last.
        #[source]
        source: Cause,
    },
    /// The call reached its deadline.
    #[error("gave up after {}: no time is left for another within the {} of `evaluations.case_timeout`", quantity::of(*attempts, "attempt"), seconds(*deadline))]
    CallDeadline {
        /// How many were made.
        attempts: u32,
        /// The setting.
        deadline: Duration,
        /// The failure of the last.
        #[source]
        source: Cause,
    },
    /// The server asks for a longer pause than `retry_after_cap`.
    #[error("the server asks for a pause of {}{}", seconds(*asked), until_date(*until))]
    RetryAfter {
        /// The pause.
        asked: Duration,
        /// When the pause ends.
        until: SystemTime,
        /// The answer that asked for it.
        #[source]
        source: Cause,
    },
    /// The server has been away for longer than a call may take.
    #[error("the server has been unreachable for {}, longer than `evaluations.case_timeout`", seconds(*away))]
    Away {
        /// How long it has been away.
        away: Duration,
        /// The failure of the last attempt.
        #[source]
        source: Cause,
    },
    /// No call succeeded, and several used up their attempts.
    #[error("{calls} calls failed at every attempt, and none succeeded")]
    Useless {
        /// How many failed.
        calls: u32,
        /// The failure of the last.
        #[source]
        source: Cause,
    },
    /// The server sent the same refusal again and again, and nothing else.
    #[error("the server refused {refusals} calls in a row in the same way and answered none")]
    Refusals {
        /// How many times.
        refusals: u32,
        /// The last refusal.
        #[source]
        source: Cause,
    },
}

/// The date when a pause ends, if HTTP can write it: from 1970 to 9999.
fn until_date(until: SystemTime) -> String {
    /// Seconds from 1970 to the end of 9999.
    const END: u64 = 253_402_300_800;
    match until.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since.as_secs() < END => format!(", until {}", httpdate::fmt_http_date(until)),
        _ => String::new(),
    }
}

/// Writes a duration in seconds, to the millisecond and without trailing zeros.
pub(super) fn seconds(duration: Duration) -> String {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let duration = Duration::from_millis(milliseconds);
    format!("{} s", duration.as_secs_f64())
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_written_to_the_millisecond() {
        assert_eq!(seconds(Duration::from_mins(2)), "120 s");
        assert_eq!(seconds(Duration::from_nanos(4_998_731_022)), "4.998 s");
    }
}
