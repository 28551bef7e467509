//! The settings of one model.

use std::num::{NonZeroU32, NonZeroUsize};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One model. A layer that names another `provider` replaces the whole model of the layers below it. One that names another `name`
/// replaces `vector_dim` and what else is true of the model's weights alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    /// `embedded`, `ollama`, `openai` or a name under `providers`; embedding models also `local`; rerankers `local`, `http` or `llm`.
    pub(crate) provider: String,
    /// The model's name at its provider. For `local` a folder, or `owner/name` on the Hugging Face hub. For `llm` a chat model as
    /// `PROVIDER:NAME`.
    pub(crate) name: String,
    /// Local models: branch, tag or commit on the hub. The default is `main`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<String>,
    /// Local models: the type of numbers to compute in, `f32` or the faster `int8`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dtype: Option<Dtype>,
    /// Local embedding models: how the vectors of the tokens become one, instead of the way that the model's files give.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pooling: Option<Pooling>,
    /// Local rerankers that are language models: the instruction in the prompt, instead of the one of the model's authors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) instruction: Option<String>,
    /// Local rerankers that are language models: the prompt, if the model's name and files do not tell which one it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rerank_prompt: Option<RerankPrompt>,
    /// Embedding models: the dimensions of the vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) vector_dim: Option<NonZeroUsize>,
    /// The address of the server, instead of the provider's.
    #[serde(
        default,
        serialize_with = "super::shown::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) base_url: Option<String>,
    /// The name of the environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) api_key_env: Option<String>,
    /// Time limit of one request, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<f64>,
    /// Most requests in flight at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_concurrency: Option<NonZeroUsize>,
    /// Chat models: the sampling temperature. The default is 0, so that runs can be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
    /// Chat models: the longest answer, in tokens. Embedding models and local rerankers: how many tokens of a text are read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<NonZeroU32>,
    /// Chat models: the seed of sampling, for servers that take one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<i32>,
    /// Chat models behind OpenAI's protocol: how much a reasoning model reasons, such as `low`, `medium` or `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_effort: Option<String>,
    /// Chat models of Ollama: the context window in tokens. The default fits each prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) num_ctx: Option<NonZeroU32>,
    /// Ollama: how long the model stays loaded, such as `10m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keep_alive: Option<String>,
    /// Chat models of Ollama: whether a reasoning model reasons, or how much: `true`, `false`, `low`, `medium`, `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) think: Option<Think>,
    /// Embedding models: the text in front of every question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) query_prefix: Option<String>,
    /// Embedding models: the text in front of every document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document_prefix: Option<String>,
    /// Further fields of every request, sent unchanged.
    #[serde(
        default,
        serialize_with = "super::shown::serialize_fields",
        skip_serializing_if = "Map::is_empty"
    )]
    pub(crate) extra_body: Map<String, Value>,
}

impl Model {
    /// A model with nothing set but its provider and name.
    pub(crate) fn named(provider: &str, name: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            name: name.to_owned(),
            revision: None,
            dtype: None,
            pooling: None,
            instruction: None,
            rerank_prompt: None,
            vector_dim: None,
            base_url: None,
            api_key_env: None,
            timeout: None,
            max_concurrency: None,
            temperature: None,
            max_tokens: None,
            seed: None,
            reasoning_effort: None,
            num_ctx: None,
            keep_alive: None,
            think: None,
            query_prefix: None,
            document_prefix: None,
            extra_body: Map::new(),
        }
    }

    /// The names of the fields that are set, apart from `provider` and `name`.
    pub(crate) fn set_fields(&self) -> Vec<String> {
        let written = serde_json::to_value(self).expect("a model is plain data");
        let fields = written.as_object().into_iter().flat_map(Map::keys);
        fields
            .filter(|field| !["provider", "name"].contains(&field.as_str()))
            .cloned()
            .collect()
    }
}

/// The type of numbers that a local model computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dtype {
    /// 32-bit floats, as most models are published.
    F32,
    /// 8-bit integers.
    Int8,
}

/// How the vectors of a text's tokens become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pooling {
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

/// The prompt of a family of rerankers that are language models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RerankPrompt {
    /// Qwen3-Reranker.
    Qwen3,
    /// mxbai-rerank-v2.
    Mxbai,
}

/// Whether and how much a model reasons before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Think {
    /// Whether the model reasons.
    Whether(bool),
    /// How much it reasons.
    HowMuch(Effort),
}

/// How much a model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Effort {
    /// A little.
    Low,
    /// Somewhat.
    Medium,
    /// A lot.
    High,
}
