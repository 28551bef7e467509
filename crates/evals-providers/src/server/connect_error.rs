//! Why a model behind a server cannot be used.

use std::error::Error;
use std::sync::Arc;

use thiserror::Error;

use super::error::ServerError;
use crate::settings::SettingsError;
use crate::traffic::AttemptError;
use evals_models::{Failure, ModelIdentity};

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
