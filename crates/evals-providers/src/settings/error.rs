//! Settings that no request can be made from.

use std::error::Error;

use thiserror::Error;

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
