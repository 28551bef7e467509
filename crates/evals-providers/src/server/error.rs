//! Errors between this program and a server.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::body::Expected;
use crate::classify::Refusal;

/// An error between this program and a server. Messages name the server by its address, without credentials.
#[derive(Debug, Error)]
pub(crate) enum ServerError {
    /// The server answered with an error.
    #[error("{server} answered {}{}{}", refusal.status, message(&refusal.body.message), hint(advice.as_deref().unwrap_or_default()))]
    Refused {
        server: String,
        refusal: Box<Refusal>,
        advice: Option<String>,
    },
    /// No connection to the server came about.
    #[error("{server} cannot be reached{}", hint(advice))]
    Unreachable {
        server: String,
        advice: String,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The server took too long.
    #[error("{server} did not answer within {}s (`timeout`)", after.as_secs_f64())]
    TimedOut { server: String, after: Duration },
    /// The connection was lost before the answer was complete.
    #[error("the connection to {server} was lost")]
    Lost {
        server: String,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The answer does not follow the protocol.
    #[error("{server} answered with {found} instead of {expected}")]
    Malformed {
        server: String,
        expected: &'static str,
        found: String,
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The answer exceeds its limit.
    #[error("{server} answered with more than {}, the limit for {}", expected.limit, expected.what)]
    TooLarge { server: String, expected: Expected },
    /// The server returned a vector for each token, because it does not know how to pool them into one.
    #[error(
        "{server} answered with a vector for each token instead of one for each text{}",
        hint(advice)
    )]
    Unpooled { server: String, advice: String },
    /// The server does not have the model.
    #[error("{server} has no model `{model}`; {}", pull_advice(model))]
    NoModel { server: String, model: String },
    /// The server refused, and the client that asked dropped the status.
    #[error("{server} refused{}{}", reason(message), hint(advice))]
    Declined {
        server: String,
        message: String,
        advice: &'static str,
    },
    /// A pull ended before its last step.
    #[error("{server} ended the pull early; pull again to continue where it stopped")]
    PullCut {
        server: String,
        #[source]
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
    /// A pull reported nothing for too long.
    #[error("{server} reported no progress for {}s (`timeout`); pull again to continue where it stopped", after.as_secs_f64())]
    PullStalled { server: String, after: Duration },
    /// The prompt and its reply do not fit into the context length.
    #[error("the prompt and its reply need about {needed} tokens, but the model reads {available}")]
    TooLong { needed: u64, available: u64 },
    /// The server cut the prompt, because it did not fit into the window.
    #[error(
        "the server cut the prompt: {read} tokens read and {written} written fill the `num_ctx` of {window}"
    )]
    Truncated {
        read: u64,
        written: u64,
        window: u64,
    },
}

fn message(message: &str) -> Prefixed<'_> {
    Prefixed(": ", message)
}

fn reason(message: &str) -> Prefixed<'_> {
    match message {
        "" => Prefixed(" ", "without a reason"),
        message => Prefixed(": ", message),
    }
}

/// Advice for a model that is missing.
pub(super) fn pull_advice(model: &str) -> String {
    format!("run `ollama pull {model}`, or add `--pull` to `evaluations run` or `doctor`")
}

fn hint(advice: &str) -> Prefixed<'_> {
    Prefixed("; ", advice)
}

/// A text after a separator. Without a text there is no separator.
struct Prefixed<'t>(&'static str, &'t str);

impl fmt::Display for Prefixed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() {
            return Ok(());
        }
        write!(formatter, "{}{}", self.0, self.1)
    }
}
