//! How a local model is run, where the user overrides its own files.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// Settings that override the files of a local model.
///
/// The default overrides nothing and computes in 32-bit floats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalSettings {
    /// The model's name in its identity. Default: `owner/name` in the hub's cache, else the name of the folder.
    pub name: Option<String>,
    /// How tokens become one vector. Default: as `1_Pooling/config.json` states, else the mean.
    pub pooling: Option<Pooling>,
    /// Whether vectors are normalised to length 1. Default: whether `modules.json` has that step.
    pub normalize: Option<bool>,
    /// Number of tokens read of each text, special tokens included. Default: as `sentence_bert_config.json` states, else as many as
    /// tokenizer and positions allow. A model without positions reads 8192.
    pub max_tokens: Option<NonZeroUsize>,
    /// Put before every query. Default: the prompt `query` of `config_sentence_transformers.json`, else its default prompt.
    pub query_prompt: Option<String>,
    /// Put before every document. Default: the prompt `document` or `passage`, else the default prompt.
    pub document_prompt: Option<String>,
    /// The instruction of a reranker that follows instructions. Default: the default prompt of
    /// `config_sentence_transformers.json`, else the instruction of the model's authors. An error with other rerankers.
    pub instruction: Option<String>,
    /// The prompt that asks a language model whether a text answers a query. Default: its chat template if `modules.json` makes it a
    /// reranker, else the prompt of the published model of its name. An error with other rerankers.
    pub rerank_prompt: Option<RerankPrompt>,
    /// The numbers that linear maps are computed in.
    pub dtype: Dtype,
    /// Number of threads. Default: one for each core that the process may use.
    pub threads: Option<NonZeroUsize>,
}

/// How the vectors of the tokens become the vector of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The first token's vector.
    Cls,
    /// The largest value of each column.
    Max,
    /// The last token's vector.
    Last,
    /// Their weighted mean: the first token weighs 1, the second 2, and so on.
    WeightedMean,
}

impl Pooling {
    /// The name in settings and identities.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
            Self::Max => "max",
            Self::Last => "last",
            Self::WeightedMean => "weighted-mean",
        }
    }
}

/// The prompts of published rerankers that are language models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RerankPrompt {
    /// That of Qwen3-Reranker, which answers `yes` or `no`.
    Qwen3,
    /// That of mxbai-rerank-v2, which answers `1` or `0`.
    Mxbai,
}

impl RerankPrompt {
    /// The prompt that a model of this name was published with. Only the name shows it: configuration and tokenizer are those of
    /// the model that it was trained from.
    pub(crate) fn of_model(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        if name.contains("qwen3-reranker") {
            return Some(Self::Qwen3);
        }
        let is_second = name.contains("mxbai-rerank") && name.contains("-v2");
        is_second.then_some(Self::Mxbai)
    }
}

/// The numbers that linear maps are computed in. Everything else is computed in 32-bit floats.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// 32-bit floats: the vectors of the published model.
    #[default]
    F32,
    /// 8-bit integers: weights with one scale for each output, inputs with one scale for each token. Faster and smaller, and
    /// close to the published model.
    Int8,
}

impl Dtype {
    /// The name in settings and identities.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Int8 => "int8",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_models_are_known_by_name() {
        for (name, prompt) in [
            ("Qwen/Qwen3-Reranker-0.6B", Some(RerankPrompt::Qwen3)),
            (
                "tomaarsen/Qwen3-Reranker-4B-seq-cls",
                Some(RerankPrompt::Qwen3),
            ),
            (
                "mixedbread-ai/mxbai-rerank-large-v2",
                Some(RerankPrompt::Mxbai),
            ),
            ("mixedbread-ai/mxbai-rerank-base-v1", None),
            ("Qwen/Qwen3-0.6B", None),
        ] {
            assert_eq!(RerankPrompt::of_model(name), prompt, "{name}");
        }
    }
}
