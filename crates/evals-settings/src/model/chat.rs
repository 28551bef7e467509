//! Chat models, which answer, judge, and rerank.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use super::{
    Connection, EMBEDDED, Model, ModelKind, NoSettings, Protocol, Provided, read_kind, variant,
};

/// What runs a chat model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ChatKind {
    /// Part of this program, and no language model: it quotes, or counts words.
    Embedded(NoSettings),
    /// An Ollama server.
    Ollama(OllamaChatSettings),
    /// A server that speaks OpenAI's protocol.
    OpenAi(OpenAiChatSettings),
}

/// Settings of every chat model behind a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sampling {
    /// Chat models: the sampling temperature. The default is 0, so that runs can be repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Chat models: the longest answer, in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<NonZeroU32>,
    /// Chat models: the seed of sampling, for servers that take one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i32>,
}

/// Settings of a chat model of Ollama.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OllamaChatSettings {
    /// How the server is reached.
    #[serde(flatten)]
    pub connection: Connection,
    /// How answers are drawn.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Chat models of Ollama: the context window in tokens. The default fits each prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_ctx: Option<NonZeroU32>,
    /// Ollama: how long the model stays loaded, such as `10m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<String>,
    /// Chat models of Ollama: whether a reasoning model reasons, or how much: `true`, `false`, `low`, `medium`, `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
}

/// Settings of a chat model behind OpenAI's protocol.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OpenAiChatSettings {
    /// How the server is reached.
    #[serde(flatten)]
    pub connection: Connection,
    /// How answers are drawn.
    #[serde(flatten)]
    pub sampling: Sampling,
    /// Chat models behind OpenAI's protocol: how much a reasoning model reasons, such as `low`, `medium` or `high`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
}

/// Whether and how much a model reasons before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Think {
    /// Whether the model reasons.
    Whether(bool),
    /// How much it reasons.
    HowMuch(Effort),
}

/// How much a model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// A little.
    Low,
    /// Somewhat.
    Medium,
    /// A lot.
    High,
}

impl ModelKind for ChatKind {
    const MODELS: &'static str = "chat models";
    const SCHEMA: [&'static str; 3] = [
        "ChatModel",
        "`embedded`, `ollama`, `openai` or a name under `providers`.",
        "The model's name at its provider.",
    ];
    const PROVIDERS: &'static [Provided<Self>] = &[
        Provided::new::<NoSettings>(EMBEDDED, |it| variant(it, Self::Embedded)),
        Provided::new::<OllamaChatSettings>("ollama", |it| variant(it, Self::Ollama)),
        Provided::new::<OpenAiChatSettings>("openai", |it| variant(it, Self::OpenAi)),
    ];

    fn connection(&self) -> Option<(Protocol, &Connection)> {
        match self {
            Self::Embedded(_) => None,
            Self::Ollama(ollama) => Some((Protocol::Ollama, &ollama.connection)),
            Self::OpenAi(openai) => Some((Protocol::OpenAi, &openai.connection)),
        }
    }
}

impl ChatKind {
    /// How the model samples; `None` if it is no language model.
    pub fn sampling(&self) -> Option<&Sampling> {
        match self {
            Self::Embedded(_) => None,
            Self::Ollama(ollama) => Some(&ollama.sampling),
            Self::OpenAi(openai) => Some(&openai.sampling),
        }
    }

    /// What a language model behind a server has in any case.
    pub fn served_mut(&mut self) -> Option<(&mut Connection, &mut Sampling)> {
        match self {
            Self::Embedded(_) => None,
            Self::Ollama(ollama) => Some((&mut ollama.connection, &mut ollama.sampling)),
            Self::OpenAi(openai) => Some((&mut openai.connection, &mut openai.sampling)),
        }
    }
}

impl Model<ChatKind> {
    /// A chat model with nothing set but its provider and name.
    pub fn named(provider: &str, name: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            name: name.to_owned(),
            kind: read_kind(provider, name, Map::new()).expect("every setting has a default"),
        }
    }

    /// The longest answer, in tokens.
    pub fn max_tokens(&self) -> Option<NonZeroU32> {
        self.kind.sampling()?.max_tokens
    }
}
