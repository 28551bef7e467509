use std::num::{NonZeroU32, NonZeroUsize};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One model, wherever it is named. A layer that gives another `provider` replaces the whole model of the
/// layers below it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Model {
    /// `embedded`, `ollama`, `openai`, `local`, `http` or `llm`, as far as the place allows.
    pub(crate) provider: String,
    /// The model's name, as its provider calls it; for `local` a folder, else `owner/name` on the Hugging Face hub.
    pub(crate) name: String,
    /// Local models: branch, tag or commit on the hub; `main` where it is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) revision: Option<String>,
    /// Local models: the numbers they compute in, `f32` or the faster `int8`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dtype: Option<Dtype>,
    /// Local models: how the vectors of tokens become one, instead of what the model's files say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pooling: Option<Pooling>,
    /// Local rerankers that are language models: what they are to look for, instead of what their authors ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) instruction: Option<String>,
    /// Local rerankers that are language models: whose prompt they are asked by, where name and files do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rerank_prompt: Option<RerankPrompt>,
    /// Dimensions of an embedding model's vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) vector_dim: Option<NonZeroUsize>,
    /// The server's address, instead of the provider's.
    #[serde(
        default,
        serialize_with = "super::shown::serialize",
        skip_serializing_if = "Option::is_none"
    )]
    pub(crate) base_url: Option<String>,
    /// The environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) api_key_env: Option<String>,
    /// Longest wait for one request, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<f64>,
    /// Requests under way at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_concurrency: Option<NonZeroUsize>,
    /// Sampling temperature; 0 where it is not set, so that runs can be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
    /// Longest answer, in tokens; for a local embedding model the tokens read of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<NonZeroU32>,
    /// Seed of sampling, for servers that take one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<i32>,
    /// `low`, `medium` or `high`, for models that reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reasoning_effort: Option<String>,
    /// Ollama: the context window in tokens, instead of one made to fit each prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) num_ctx: Option<NonZeroU32>,
    /// Ollama: how long the model stays loaded, e.g. `10m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) keep_alive: Option<String>,
    /// Ollama: whether a model that can reason does, or how much: `true`, `false`, `low`, `medium`, `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) think: Option<Think>,
    /// What an embedding model wants in front of a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) query_prefix: Option<String>,
    /// What an embedding model wants in front of a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) document_prefix: Option<String>,
    /// Further fields of the request, sent as they are.
    #[serde(
        default,
        serialize_with = "super::shown::serialize_fields",
        skip_serializing_if = "Map::is_empty"
    )]
    pub(crate) extra_body: Map<String, Value>,
}

impl Model {
    /// A model with nothing set but its name.
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

    /// The fields that are set, apart from the two that name the model.
    pub(crate) fn set_fields(&self) -> Vec<String> {
        let written = serde_json::to_value(self).expect("a model is plain data");
        let fields = written.as_object().into_iter().flat_map(Map::keys);
        fields
            .filter(|field| !["provider", "name"].contains(&field.as_str()))
            .cloned()
            .collect()
    }
}

/// Numbers that a local model computes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dtype {
    /// 32-bit floats, as published.
    F32,
    /// 8-bit integers.
    Int8,
}

/// How the vectors of a text's tokens become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Pooling {
    /// Their mean.
    Mean,
    /// The first token's.
    Cls,
    /// The largest value of each dimension.
    Max,
    /// The last token's.
    Last,
    /// Their mean, later tokens weighing more.
    WeightedMean,
}

/// The prompts of published rerankers that are language models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RerankPrompt {
    /// That of Qwen3-Reranker.
    Qwen3,
    /// That of mxbai-rerank-v2.
    Mxbai,
}

/// Whether and how much a model reasons before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Think {
    /// Whether.
    Whether(bool),
    /// How much.
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
