//! Settings of a server and its models: address, key, timeout, and further fields of requests.

mod base_url;
pub(crate) mod extra_body;

use std::error::Error;
use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use evals_models::ChatRequest;
use serde_json::{Map, Value};
use thiserror::Error;

pub use base_url::BaseUrl;

/// A server's address, credentials and timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// The address to which the paths of endpoints are appended. That of an `OpenAI`-compatible server usually ends in `/v1`.
    pub base_url: BaseUrl,
    /// Sent as a bearer token. Default: none.
    pub api_key: Option<ApiKey>,
    /// The provider's name in reports and prices. Default: `openai` or `ollama`, after the protocol.
    pub provider: Option<String>,
    /// A stand-in for the digest of the model's weights, if its server gives none. Default: none.
    pub digest: Option<String>,
    /// The longest that a request may take, its reply included. Connecting may take 10 s of it. Default: 300 s.
    pub timeout: Duration,
}

impl ServerSettings {
    /// A server without a key.
    pub fn new(base_url: BaseUrl) -> Self {
        Self {
            base_url,
            api_key: None,
            provider: None,
            digest: None,
            timeout: Duration::from_mins(5),
        }
    }
}

/// A chat model, and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatSettings {
    /// Where the model runs.
    pub server: ServerSettings,
    /// The model's name at that server.
    pub model: String,
    /// The randomness of replies. Default: the server's.
    pub temperature: Option<f64>,
    /// The seed of that randomness, for servers that take one. Default: none.
    pub seed: Option<i32>,
    /// The most tokens of a reply, reasoning included, if a request does not say. Default: the server's.
    pub max_tokens: Option<NonZeroU32>,
    /// The field that holds this budget. `OpenAI`-compatible servers only.
    pub max_tokens_field: MaxTokensField,
    /// `minimal`, `low`, `medium`, `high` or another level of the server. `OpenAI`-compatible servers only. Default: not sent.
    pub reasoning_effort: Option<String>,
    /// The tokens of prompt and reply together for which the model is loaded. Ollama only. Default: as many as the longest prompt so
    /// far needs.
    pub num_ctx: Option<NonZeroU32>,
    /// How long the model stays loaded after a reply: `5m`, `0`, or `-1` for ever. Ollama only. Default: the server's.
    pub keep_alive: Option<String>,
    /// Whether the model reasons before it answers. Ollama only. Default: the model's.
    pub think: Option<Think>,
    /// Extra fields of every request, under the server's names. They replace those of other settings, but may not set the
    /// conversation or streaming.
    pub extra_body: Map<String, Value>,
}

/// The field of a request that holds the token budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaxTokensField {
    /// `max_completion_tokens` for models with the names of `OpenAI`'s reasoning models, `max_tokens` for all others, and the other
    /// one as soon as the server refuses it.
    #[default]
    Auto,
    /// Always `max_tokens`, which most servers know.
    MaxTokens,
    /// Always `max_completion_tokens`, which `OpenAI`'s reasoning models demand.
    MaxCompletionTokens,
}

/// How much a model reasons before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Not at all.
    Off,
    /// As much as the model decides.
    On,
    /// A little. This and the levels below are for models that take levels.
    Low,
    /// Somewhat.
    Medium,
    /// A lot.
    High,
}

impl ChatSettings {
    /// A model with the server's defaults.
    pub fn new(server: ServerSettings, model: impl Into<String>) -> Self {
        Self {
            server,
            model: model.into(),
            temperature: None,
            seed: None,
            max_tokens: None,
            max_tokens_field: MaxTokensField::Auto,
            reasoning_effort: None,
            num_ctx: None,
            keep_alive: None,
            think: None,
            extra_body: Map::new(),
        }
    }

    /// The most tokens of a request's reply; `None` without a limit.
    pub(crate) fn budget(&self, request: &ChatRequest) -> Option<u32> {
        let budget = request.max_tokens.or(self.max_tokens);
        budget.map(NonZeroU32::get)
    }
}

/// An embedding model, and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbedSettings {
    /// Where the model runs.
    pub server: ServerSettings,
    /// The model's name at that server.
    pub model: String,
    /// Put before every question. Models trained on pairs expect an instruction here. Default: empty.
    pub query_prefix: String,
    /// Put before every document. Default: empty.
    pub document_prefix: String,
    /// The dimension of the vectors. Default: learned from a first request.
    pub dimension: Dimension,
    /// The most tokens of a text that the model reads. Default: `None`, which is unknown for most servers. For Ollama it is the model's
    /// context length, but at most 8 192, because Ollama reserves memory for all of it.
    pub max_tokens: Option<NonZeroUsize>,
    /// The most texts of one request. Default: 64.
    pub max_batch: NonZeroUsize,
    /// The most estimated tokens of one request. A longer text is sent alone. Default: 16 384.
    pub max_batch_tokens: NonZeroUsize,
    /// How long the model stays loaded after a reply: `5m`, `0`, or `-1` for ever. Ollama only. Default: the server's.
    pub keep_alive: Option<String>,
    /// Extra fields of every request, under the server's names. They may not set the texts.
    pub extra_body: Map<String, Value>,
}

/// The dimension of a model's vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dimension {
    /// That of the first vector.
    #[default]
    Learn,
    /// This one. Another one is an error.
    Expect(NonZeroUsize),
    /// This one, which requests ask for. For models that can shorten their vectors.
    Request(NonZeroU32),
}

impl Dimension {
    /// The dimension that requests ask for.
    pub(crate) fn requested(self) -> Option<u32> {
        match self {
            Self::Request(dimension) => Some(dimension.get()),
            Self::Learn | Self::Expect(_) => None,
        }
    }
}

impl EmbedSettings {
    /// A model with the server's defaults, without prefixes.
    pub fn new(server: ServerSettings, model: impl Into<String>) -> Self {
        Self {
            server,
            model: model.into(),
            query_prefix: String::new(),
            document_prefix: String::new(),
            dimension: Dimension::Learn,
            max_tokens: None,
            max_batch: NonZeroUsize::new(64).expect("64 is not zero"),
            max_batch_tokens: NonZeroUsize::new(16_384).expect("16384 is not zero"),
            keep_alive: None,
            extra_body: Map::new(),
        }
    }
}

/// A reranker, and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct RerankSettings {
    /// Where the model runs. `/rerank` is appended to the address.
    pub server: ServerSettings,
    /// The model's name at that server.
    pub model: String,
    /// The most texts of one request. Default: 32, the default limit of text-embeddings-inference.
    pub max_batch: NonZeroUsize,
    /// Extra fields of every request, under the server's names. They may not set the question or the texts.
    pub extra_body: Map<String, Value>,
}

impl RerankSettings {
    /// A model with the server's defaults.
    pub fn new(server: ServerSettings, model: impl Into<String>) -> Self {
        Self {
            server,
            model: model.into(),
            max_batch: NonZeroUsize::new(32).expect("32 is not zero"),
            extra_body: Map::new(),
        }
    }
}

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

/// A key for a server, with the name of its environment variable, which messages may show.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    secret: String,
    variable: String,
}

impl ApiKey {
    /// Takes the value of the environment variable `variable`, without white space around it.
    ///
    /// Fails if the value is empty or has characters that a header cannot carry.
    pub fn new(
        secret: impl Into<String>,
        variable: impl Into<String>,
    ) -> Result<Self, SettingsError> {
        let (secret, variable) = (secret.into().trim().to_owned(), variable.into());
        if secret.is_empty() {
            return Err(SettingsError::EmptyKey { variable });
        }
        if !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SettingsError::KeyCharacters { variable });
        }
        Ok(Self { secret, variable })
    }

    /// The name of the environment variable that holds the key.
    pub fn variable(&self) -> &str {
        &self.variable
    }

    pub(crate) fn expose(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKey(from `{}`)", self.variable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_where_it_came_from_and_never_what_it_is() {
        let key = ApiKey::new("sk-secret\n", "OPENAI_API_KEY").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(from `OPENAI_API_KEY`)");
        assert_eq!(key.expose(), "sk-secret");
    }

    #[test]
    fn refuses_what_no_header_can_carry() {
        let message = |secret| ApiKey::new(secret, "KEY").unwrap_err().to_string();
        assert_eq!(
            message(" \n"),
            "the environment variable `KEY` is empty; set it to a key"
        );
        assert_eq!(
            message("sk-a\nsk-b"),
            "the environment variable `KEY` contains characters that a key cannot have"
        );
    }
}
