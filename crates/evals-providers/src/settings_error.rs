use std::error::Error;

use thiserror::Error;

use super::AttemptError;
use super::server_error::ServerError;
use evals_models::{Failure, ModelIdentity};

/// Settings that no request can be made from.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The address cannot be read.
    #[error("`base_url` is not an address")]
    BaseUrl {
        /// What is wrong with it.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The address is not one of a web server.
    #[error("`base_url` has to begin with `http://` or `https://`, not with `{scheme}:`")]
    Scheme {
        /// What it begins with.
        scheme: String,
    },
    /// Endpoints are appended to the address, so it cannot end in a query.
    #[error("`base_url` may not have a query or a fragment")]
    UrlQuery,
    /// A server takes either a key or a user name and a password.
    #[error(
        "`base_url` may not have a user name or a password here: use `api_key_env` for credentials"
    )]
    Userinfo,
    /// The environment variable is there, but holds nothing.
    #[error("the variable `{variable}` holds no key")]
    EmptyKey {
        /// The variable.
        variable: String,
    },
    /// The environment variable holds something else than a key.
    #[error("the variable `{variable}` holds characters that no key can have")]
    KeyCharacters {
        /// The variable.
        variable: String,
    },
    /// An extra field would replace one that the program fills.
    #[error("`extra_body` may not set `{field}`")]
    ReservedField {
        /// The field.
        field: String,
    },
    /// A setting that this kind of provider has no use for.
    #[error("`{setting}` has no meaning for provider `{provider}`")]
    WrongProvider {
        /// The setting.
        setting: &'static str,
        /// The provider.
        provider: &'static str,
    },
    /// The HTTP client cannot be set up.
    #[error("no HTTP client could be set up")]
    Client {
        /// Why not.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Why a model behind a server cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// The settings do not fit together.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The server does not answer, does not have the model, or turned the first request down.
    #[error("`{model}` cannot be used")]
    Server {
        /// The model that was asked for.
        model: ModelIdentity,
        /// Whether it may be different a little later.
        failure: Failure,
        /// What happened, and what mends it.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl ConnectError {
    /// Whether there is no server at the address, as far as can be told.
    pub fn is_unreachable(&self) -> bool {
        let Self::Server { source, .. } = self else {
            return false;
        };
        let source = source.downcast_ref::<ServerError>();
        matches!(source, Some(ServerError::Unreachable { .. }))
    }

    /// Whether the server says that the key is wrong, or that it wants one (401).
    pub fn refuses_key(&self) -> bool {
        let Self::Server { source, .. } = self else {
            return false;
        };
        let source = source.downcast_ref::<ServerError>();
        matches!(source, Some(ServerError::Refused { refusal, .. }) if refusal.status == 401)
    }

    /// Whether it may be different a little later.
    pub fn is_transient(&self) -> bool {
        let Self::Server { failure, .. } = self else {
            return false;
        };
        *failure == Failure::Transient
    }

    pub(super) fn from_attempt(model: &ModelIdentity, error: AttemptError) -> Self {
        Self::Server {
            model: model.clone(),
            failure: error.failure,
            source: error.source,
        }
    }
}
