//! Errors between this program and a server.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use evals_models::{Failure, ModelIdentity};
use thiserror::Error;

use super::body::Expected;
use crate::classify::Refusal;
use crate::settings::SettingsError;
use crate::traffic::AttemptError;

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
    /// The server does not have the model.
    #[error("{server} has no model `{model}`; {}", pull_advice(model))]
    NoModel { server: String, model: String },
    /// What one kind of request may come to. The text is the whole message.
    #[error("{0}")]
    Told(String),
    /// A pull ended before its last step.
    #[error("{server} ended the pull early; pull again to continue where it stopped")]
    PullCut {
        server: String,
        #[source]
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
}

fn message(message: &str) -> Prefixed<'_> {
    Prefixed(": ", message)
}

/// Advice for a model that is missing.
pub(super) fn pull_advice(model: &str) -> String {
    format!("run `ollama pull {model}`, or add `--pull` to `evaluations run` or `doctor`")
}

pub(super) fn hint(advice: &str) -> Prefixed<'_> {
    Prefixed("; ", advice)
}

/// A text after a separator. Without a text there is no separator.
pub(super) struct Prefixed<'t>(&'static str, &'t str);

impl fmt::Display for Prefixed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1.is_empty() {
            return Ok(());
        }
        write!(formatter, "{}{}", self.0, self.1)
    }
}

/// Why a model behind a server cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The settings contradict each other, or no request can be made from them.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The server does not answer, does not have the model, or refused the first request.
    #[error("`{model}` cannot be used")]
    Server {
        /// The model that was asked for.
        model: ModelIdentity,
        /// Whether another attempt may succeed.
        failure: Failure,
        /// The failure, and how to mend it.
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
}

impl ConnectError {
    /// Whether no connection to the address came about.
    pub fn is_unreachable(&self) -> bool {
        matches!(self.server_error(), Some(ServerError::Unreachable { .. }))
    }

    /// Whether the server refused the key, or asked for one (401).
    pub fn refuses_key(&self) -> bool {
        matches!(self.server_error(), Some(ServerError::Refused { refusal, .. }) if refusal.status == 401)
    }

    /// Whether another attempt a little later may succeed.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Server { failure, .. } if *failure == Failure::Transient)
    }

    fn server_error(&self) -> Option<&ServerError> {
        match self {
            Self::Server { source, .. } => source.downcast_ref(),
            Self::Settings(_) => None,
        }
    }

    /// The failure of the first request to a model.
    pub(crate) fn from_attempt(model: &ModelIdentity, error: AttemptError) -> Self {
        Self::Server {
            model: model.clone(),
            failure: error.failure,
            source: error.source,
        }
    }
}
