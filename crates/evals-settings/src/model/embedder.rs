//! Embedding models.

use std::num::{NonZeroU32, NonZeroUsize};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Connection, EMBEDDED, LocalSettings, ModelKind, Protocol, Provided, variant};

/// What runs an embedding model.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EmbedderKind {
    /// Part of this program.
    Embedded(EmbeddedEmbedderSettings),
    /// Run in this process, from files in a folder or on the Hugging Face hub.
    Local(LocalEmbedderSettings),
    /// An Ollama server.
    Ollama(OllamaEmbedderSettings),
    /// A server that speaks OpenAI's protocol.
    OpenAi(OpenAiEmbedderSettings),
}

/// Settings of the embedded model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EmbeddedEmbedderSettings {
    /// Embedding models: the dimensions of the vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_dim: Option<NonZeroUsize>,
}

/// Settings of every embedding model that is not embedded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TextSettings {
    /// Embedding models: the dimensions of the vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vector_dim: Option<NonZeroUsize>,
    /// Embedding models: how many tokens of a text are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<NonZeroU32>,
    /// Embedding models: the text in front of every question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query_prefix: Option<String>,
    /// Embedding models: the text in front of every document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_prefix: Option<String>,
}

/// Settings of a local embedding model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LocalEmbedderSettings {
    /// The files, and how they are computed.
    #[serde(flatten)]
    pub local: LocalSettings,
    /// Local embedding models: how the vectors of the tokens become one, instead of the way that the model's files give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pooling: Option<Pooling>,
    /// How texts become vectors.
    #[serde(flatten)]
    pub texts: TextSettings,
}

/// Settings of an embedding model of Ollama.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OllamaEmbedderSettings {
    /// How the server is reached.
    #[serde(flatten)]
    pub connection: Connection,
    /// How texts become vectors.
    #[serde(flatten)]
    pub texts: TextSettings,
    /// Ollama: how long the model stays loaded, such as `10m`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<String>,
}

/// Settings of an embedding model behind OpenAI's protocol.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OpenAiEmbedderSettings {
    /// How the server is reached.
    #[serde(flatten)]
    pub connection: Connection,
    /// How texts become vectors.
    #[serde(flatten)]
    pub texts: TextSettings,
}

/// How the vectors of a text's tokens become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// The mean.
    Mean,
    /// The vector of the first token.
    Cls,
    /// The largest value of each dimension.
    Max,
    /// The vector of the last token.
    Last,
    /// The mean with greater weights for later tokens.
    WeightedMean,
}

impl ModelKind for EmbedderKind {
    const MODELS: &'static str = "embedding models";
    const SCHEMA: [&'static str; 3] = [
        "EmbeddingModel",
        "`embedded`, `local`, `ollama`, `openai` or a name under `providers`.",
        "The model's name at its provider. For `local` a folder, or `owner/name` on the Hugging Face hub.",
    ];
    const PROVIDERS: &'static [Provided<Self>] = &[
        Provided::new::<EmbeddedEmbedderSettings>(EMBEDDED, |it| variant(it, Self::Embedded)),
        Provided::new::<LocalEmbedderSettings>("local", |it| variant(it, Self::Local)),
        Provided::new::<OllamaEmbedderSettings>("ollama", |it| variant(it, Self::Ollama)),
        Provided::new::<OpenAiEmbedderSettings>("openai", |it| variant(it, Self::OpenAi)),
    ];

    fn connection(&self) -> Option<(Protocol, &Connection)> {
        match self {
            Self::Embedded(_) | Self::Local(_) => None,
            Self::Ollama(ollama) => Some((Protocol::Ollama, &ollama.connection)),
            Self::OpenAi(openai) => Some((Protocol::OpenAi, &openai.connection)),
        }
    }

    fn local(&self) -> Option<&LocalSettings> {
        match self {
            Self::Local(model) => Some(&model.local),
            Self::Embedded(_) | Self::Ollama(_) | Self::OpenAi(_) => None,
        }
    }
}
