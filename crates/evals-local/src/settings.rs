use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// How a local model is run, where that differs from what its own files say.
///
/// The default takes everything from the model's files and computes in 32-bit floats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalSettings {
    /// The model's name in its identity. Default: `owner/name` in the hub's cache, else the name of the folder.
    pub name: Option<String>,
    /// How tokens become one vector. Default: `1_Pooling/config.json`, mean where there is none.
    pub pooling: Option<Pooling>,
    /// Whether vectors are brought to length 1. Default: whether `modules.json` has that step.
    pub normalize: Option<bool>,
    /// Tokens read of each text, special tokens included. Default: `sentence_bert_config.json`, else what tokenizer and
    /// positions allow; 8192 at most where a model has no positions to run out of.
    pub max_tokens: Option<NonZeroUsize>,
    /// Put before every query. Default: the prompt `query` of `config_sentence_transformers.json`, else its default prompt.
    pub query_prompt: Option<String>,
    /// Put before every document. Default: the prompt `document` or `passage`, else the default prompt.
    pub document_prompt: Option<String>,
    /// What a reranker that follows instructions is to look for. Default: the default prompt of
    /// `config_sentence_transformers.json`, else what the model's authors say. An error with other rerankers.
    pub instruction: Option<String>,
    /// How a language model is asked whether a text answers a query. Default: its chat template where `modules.json` makes it
    /// a reranker, else that of the published models by their names. An error with other rerankers.
    pub rerank_prompt: Option<RerankPrompt>,
    /// Numbers that the linear maps are computed in.
    pub dtype: Dtype,
    /// Texts run side by side, one thread each. Default: one for each core the process may use.
    pub threads: Option<NonZeroUsize>,
}

/// How the vectors of a text's tokens become the vector of the text.
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
    /// Their mean, the first token weighing 1, the second 2, and so on.
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
    /// The prompt that a model of this name was published with. Its configuration and tokenizer are those of any model that
    /// it was made from, so that the name is all there is.
    pub(crate) fn of_model(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        if name.contains("qwen3-reranker") {
            return Some(Self::Qwen3);
        }
        let is_second = name.contains("mxbai-rerank") && name.contains("-v2");
        is_second.then_some(Self::Mxbai)
    }
}

/// Numbers that a model's linear maps are computed in. All else is computed in 32-bit floats.
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
