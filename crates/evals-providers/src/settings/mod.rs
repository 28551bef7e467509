//! Where models are and how they are asked.

mod api_key;
mod base_url;
mod error;
pub(crate) mod extra_body;

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use serde_json::{Map, Value};

pub use api_key::ApiKey;
pub use base_url::BaseUrl;
pub use error::SettingsError;

/// Where a server is and how it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// The address below which the endpoints lie. For an `OpenAI`-compatible server it ends in `/v1`, as a rule.
    pub base_url: BaseUrl,
    /// Sent as a bearer token. Default: none.
    pub api_key: Option<ApiKey>,
    /// What reports and prices call the provider. Default: `openai` or `ollama`, after the protocol.
    pub provider: Option<String>,
    /// What is known of the weights of a model that its server gives no digest of. Default: nothing.
    pub digest: Option<String>,
    /// The longest that one request may take, its reply included. Default: 300 s. Connecting may take 10 s of it.
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

/// A model that writes, and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatSettings {
    /// Where the model runs.
    pub server: ServerSettings,
    /// The model's name at that server.
    pub model: String,
    /// Randomness of the reply. Default: `None`, as the server has it.
    pub temperature: Option<f64>,
    /// Seed of that randomness, for servers that take one. Default: none.
    pub seed: Option<i32>,
    /// Most tokens of a reply, reasoning included, where a request does not say. Default: `None`, as the server has it.
    pub max_tokens: Option<NonZeroU32>,
    /// Which field carries that budget. `OpenAI`-compatible servers only.
    pub max_tokens_field: MaxTokensField,
    /// `minimal`, `low`, `medium`, `high` or what else the server knows. `OpenAI`-compatible servers only. Default: not sent.
    pub reasoning_effort: Option<String>,
    /// Most tokens of prompt and reply together that the model is loaded with. Ollama only. Default: `None`, sized by the
    /// longest prompt so far.
    pub num_ctx: Option<NonZeroU32>,
    /// How long the model stays loaded after a reply: `5m`, `0`, or `-1` for ever. Ollama only. Default: as the server has it.
    pub keep_alive: Option<String>,
    /// Whether the model thinks before it writes. Ollama only. Default: as the model has it.
    pub think: Option<Think>,
    /// Further fields of every request, in the server's own words. They replace what other settings gave, except for the
    /// conversation and streaming.
    pub extra_body: Map<String, Value>,
}

/// Which field of a request holds the budget of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MaxTokensField {
    /// `max_completion_tokens` for `OpenAI`'s reasoning models by name, `max_tokens` for all others, and the other one as soon as
    /// the server asks for it.
    #[default]
    Auto,
    /// Always `max_tokens`, which most servers know.
    MaxTokens,
    /// Always `max_completion_tokens`, which `OpenAI`'s reasoning models demand.
    MaxCompletionTokens,
}

/// How much a model thinks before it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Think {
    /// Not at all.
    Off,
    /// As the model sees fit.
    On,
    /// A little; of the models that take levels.
    Low,
    /// Somewhat.
    Medium,
    /// A lot.
    High,
}

impl ChatSettings {
    /// A model asked as its server has it.
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
}

/// A model that embeds, and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbedSettings {
    /// Where the model runs.
    pub server: ServerSettings,
    /// The model's name at that server.
    pub model: String,
    /// Put before every question; models trained on pairs want an instruction here. Default: nothing.
    pub query_prefix: String,
    /// Put before every document. Default: nothing.
    pub document_prefix: String,
    /// Length of the vectors. Default: learnt from a first request.
    pub dimension: Dimension,
    /// Tokens of a text that the model reads. Default: `None`: unknown, or what Ollama tells of the model, but at most 8 192,
    /// because Ollama reserves memory for all of it.
    pub max_tokens: Option<NonZeroUsize>,
    /// Most texts of one request. Default: 64.
    pub max_batch: NonZeroUsize,
    /// Most tokens of one request, as estimated; a longer text goes alone. Default: 16 384.
    pub max_batch_tokens: NonZeroUsize,
    /// How long the model stays loaded after a reply: `5m`, `0`, or `-1` for ever. Ollama only. Default: as the server has it.
    pub keep_alive: Option<String>,
    /// Further fields of every request, in the server's own words, except for the texts.
    pub extra_body: Map<String, Value>,
}

/// The length of a model's vectors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dimension {
    /// As the first reply has it.
    #[default]
    Learn,
    /// As the settings say: another one is an error.
    Expect(NonZeroUsize),
    /// Asked from the server, of models that can shorten their vectors.
    Request(NonZeroU32),
}

impl EmbedSettings {
    /// A model asked as its server has it, without prefixes.
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

/// A model that ranks texts, and how it is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct RerankSettings {
    /// Where the model runs. `/rerank` is appended to the address.
    pub server: ServerSettings,
    /// The model's name at that server.
    pub model: String,
    /// Most texts of one request. Default: 32, which is all that text-embeddings-inference takes unless it is told otherwise.
    pub max_batch: NonZeroUsize,
    /// Further fields of every request, in the server's own words, except for the question and the texts.
    pub extra_body: Map<String, Value>,
}

impl RerankSettings {
    /// A model asked as its server has it.
    pub fn new(server: ServerSettings, model: impl Into<String>) -> Self {
        Self {
            server,
            model: model.into(),
            max_batch: NonZeroUsize::new(32).expect("32 is not zero"),
            extra_body: Map::new(),
        }
    }
}
