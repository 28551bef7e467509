//! Settings that no request can be made from.

use std::error::Error;

use thiserror::Error;

/// Settings that no request can be made from.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The address is not a URL.
    #[error("`base_url` is not an address")]
    BaseUrl {
        /// The parser's error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The address has another scheme than `http` and `https`.
    #[error("`base_url` has to begin with `http://` or `https://`, not with `{scheme}:`")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The address has a query or a fragment, so that no path can be appended to it.
    #[error("`base_url` may not have a query or a fragment")]
    UrlQuery,
    /// The address has a user name or a password where the server takes a key.
    #[error(
        "`base_url` may not have a user name or a password here: use `api_key_env` for credentials"
    )]
    Userinfo,
    /// The environment variable is set, but empty.
    #[error("the environment variable `{variable}` is empty; set it to a key")]
    EmptyKey {
        /// The variable.
        variable: String,
    },
    /// The environment variable does not hold a key.
    #[error("the environment variable `{variable}` contains characters that a key cannot have")]
    KeyCharacters {
        /// The variable.
        variable: String,
    },
    /// An extra field would replace a field that the program fills.
    #[error("`extra_body` may not set `{field}`")]
    ReservedField {
        /// The field.
        field: String,
    },
    /// A setting that this provider does not have.
    #[error("`{setting}` has no meaning for provider `{provider}`")]
    WrongProvider {
        /// The setting.
        setting: &'static str,
        /// The provider.
        provider: &'static str,
    },
    /// The HTTP client cannot be set up.
    #[error("cannot set up an HTTP client")]
    Client {
        /// The client's error.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl SettingsError {
    /// Refuses the first of `foreign` that is set: settings of other providers, which `provider` would ignore.
    pub(crate) fn refuse_foreign(
        provider: &'static str,
        foreign: &[(&'static str, bool)],
    ) -> Result<(), Self> {
        match foreign.iter().find(|(_, is_set)| *is_set) {
            Some((setting, _)) => Err(Self::WrongProvider { setting, provider }),
            None => Ok(()),
        }
    }
}
