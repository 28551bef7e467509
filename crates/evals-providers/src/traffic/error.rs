//! Why a call makes no further attempt.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use evals_messages::quantity;
use thiserror::Error;

type Cause = Box<dyn Error + Send + Sync>;

/// Why no further attempt is made, or what became of one that nothing came back from.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TrafficError {
    /// An attempt took too long.
    #[error("no answer within {}", seconds(*limit))]
    Unanswered {
        /// How long it was allowed to take: the model's timeout, or what was left of `call_deadline`.
        limit: Duration,
    },
    /// All attempts failed.
    #[error("gave up after {}", quantity::of(*attempts, "attempt"))]
    Attempts {
        /// How many were made.
        attempts: u32,
        /// What became of the last.
        #[source]
        source: Cause,
    },
    /// The call takes longer than it may.
    #[error("gave up after {}: the {} of `evaluations.case_timeout` are not enough for another", quantity::of(*attempts, "attempt"), seconds(*deadline))]
    CallDeadline {
        /// How many were made.
        attempts: u32,
        /// The setting.
        deadline: Duration,
        /// What became of the last.
        #[source]
        source: Cause,
    },
    /// The server wants to be left alone for longer than anybody is prepared to wait.
    #[error("the server asks to be left alone for {}{}", seconds(*asked), until_date(*until))]
    RetryAfter {
        /// What it asks for.
        asked: Duration,
        /// When that is over.
        until: SystemTime,
        /// The answer that asked for it.
        #[source]
        source: Cause,
    },
    /// The server has been away for as long as a call may take.
    #[error("the server has been away for {}, the whole of `evaluations.case_timeout`", seconds(*away))]
    Away {
        /// How long no connection came about.
        away: Duration,
        /// What became of the last attempt.
        #[source]
        source: Cause,
    },
    /// Nothing but one refusal has ever come.
    #[error("{refusals} calls in a row were refused in the same way, and none was answered")]
    Refusals {
        /// How many.
        refusals: u32,
        /// The last.
        #[source]
        source: Cause,
    },
}

/// The date after a pause, where it is one that HTTP can write: from 1970 to 9999.
fn until_date(until: SystemTime) -> String {
    /// Seconds from 1970 to the end of 9999.
    const END: u64 = 253_402_300_800;
    match until.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since.as_secs() < END => format!(", until {}", httpdate::fmt_http_date(until)),
        _ => String::new(),
    }
}

/// Why a model is not asked any more, told to every call in the words of the first.
#[derive(Clone, Debug)]
pub(super) struct Refused(Arc<dyn Error + Send + Sync>);

impl Refused {
    pub(super) fn new(source: Cause) -> Self {
        Self(Arc::from(source))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

impl Error for Refused {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Writes a duration in seconds, to the millisecond and without decimals that say nothing.
pub(super) fn seconds(duration: Duration) -> String {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let duration = Duration::from_millis(milliseconds);
    format!("{} s", duration.as_secs_f64())
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
