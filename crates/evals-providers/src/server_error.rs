use std::error::Error;
use std::fmt;
use std::time::Duration;

use thiserror::Error;

use super::body::Expected;
use super::classify::Refusal;

/// What went wrong between this program and a server. The server is named by its address, without credentials.
#[derive(Debug, Error)]
pub(super) enum ServerError {
    /// The server answered that it will not, or cannot.
    #[error("{server} answered {}{}{}", refusal.status, said(&refusal.body.message), hint(advice.as_deref().unwrap_or_default()))]
    Refused {
        server: String,
        refusal: Box<Refusal>,
        advice: Option<String>,
    },
    /// No connection came about.
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
    /// The connection was lost on the way.
    #[error("the connection to {server} was lost")]
    Lost {
        server: String,
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The answer is not what the protocol says.
    #[error("{server} answered with {found} instead of {expected}")]
    Malformed {
        server: String,
        expected: &'static str,
        found: String,
        #[source]
        source: Option<Box<dyn Error + Send + Sync>>,
    },
    /// The answer is larger than one can be.
    #[error("{server} answered with more than {}, the most that is read of {}", expected.limit, expected.what)]
    TooLarge { server: String, expected: Expected },
    /// The model embeds each token, and nobody told the server how to make one vector of them.
    #[error(
        "{server} answered with a vector for each token instead of one for each text{}",
        hint(advice)
    )]
    Unpooled { server: String, advice: String },
    /// The server does not have the model.
    #[error("{server} has no model `{model}`; run `ollama pull {model}`")]
    NoModel { server: String, model: String },
    /// The prompt and its reply do not fit into what the model reads at once.
    #[error(
        "about {needed} tokens of prompt and reply do not fit into the {available} that the model reads"
    )]
    TooLong { needed: u64, available: u64 },
    /// The server had no room for all that it was given.
    #[error(
        "the prompt was cut: {read} tokens that were read and {written} that were written fill the `num_ctx` of {window}"
    )]
    Truncated {
        read: u64,
        written: u64,
        window: u64,
    },
}

fn said(message: &str) -> Prefixed<'_> {
    Prefixed(": ", message)
}

fn hint(advice: &str) -> Prefixed<'_> {
    Prefixed("; ", advice)
}

/// A text after a separator, or nothing at all.
struct Prefixed<'t>(&'static str, &'t str);

impl fmt::Display for Prefixed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() {
            return Ok(());
        }
        write!(formatter, "{}{}", self.0, self.1)
    }
}
