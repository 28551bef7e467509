//! The families of architectures that can run here: the one list behind errors, loading and documentation.

use serde::Deserialize;
use serde_json::Value;

use crate::error::LocalError;
use crate::folder::Folder;

/// Names the family.
const CONFIG: &str = "config.json";

/// A family of architectures that can run here. `config.json` names it by its [`model_type`](Self::model_type).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Family {
    /// BERT: all-MiniLM, bge, e5, gte, mxbai-embed, arctic-embed, ms-marco-MiniLM.
    Bert,
    /// `RoBERTa`.
    Roberta,
    /// XLM-RoBERTa: multilingual-e5, bge-m3, bge-reranker.
    XlmRoberta,
    /// `ModernBERT`: gte-modernbert, GTE-ModernColBERT.
    ModernBert,
    /// nomic-bert: nomic-embed. Embedders only.
    NomicBert,
    /// `XLNet`.
    Xlnet,
    /// Qwen2, a decoder: mxbai-rerank v2.
    Qwen2,
    /// Qwen3, a decoder: Qwen3-Embedding, Qwen3-Reranker.
    Qwen3,
}

#[derive(Debug, Deserialize)]
struct Architectures {
    architectures: Option<Vec<String>>,
}

impl Family {
    /// Every family, in the order in which errors list them.
    pub const ALL: [Self; 8] = [
        Self::Bert,
        Self::Roberta,
        Self::XlmRoberta,
        Self::ModernBert,
        Self::NomicBert,
        Self::Xlnet,
        Self::Qwen2,
        Self::Qwen3,
    ];

    /// The `model_type` by which `config.json` names the family.
    pub fn model_type(self) -> &'static str {
        match self {
            Self::Bert => "bert",
            Self::Roberta => "roberta",
            Self::XlmRoberta => "xlm-roberta",
            Self::ModernBert => "modernbert",
            Self::NomicBert => "nomic_bert",
            Self::Xlnet => "xlnet",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
        }
    }

    /// Whether models of the family can rerank: whether it has a head that scores pairs.
    pub fn reranks(self) -> bool {
        self != Self::NomicBert
    }

    /// Whether a token attends only to those before it.
    pub fn is_decoder(self) -> bool {
        matches!(self, Self::Qwen2 | Self::Qwen3)
    }

    /// Reads the family from `config.json`. An unknown family is an error that lists the known ones.
    pub(crate) fn read(folder: &Folder) -> Result<Self, LocalError> {
        Self::supported(folder, "supported", |_| true)
    }

    /// Reads the family of a reranker. A family that cannot rerank is an error that lists those that can.
    pub(crate) fn of_reranker(folder: &Folder) -> Result<Self, LocalError> {
        Self::supported(folder, "supported as rerankers", Self::reranks)
    }

    /// The `architectures` in `config.json`: the classes that the weights were saved from.
    pub(crate) fn architectures(folder: &Folder) -> Result<Vec<String>, LocalError> {
        let config: Architectures = folder.required(CONFIG)?;
        Ok(config.architectures.unwrap_or_default())
    }

    fn supported(
        folder: &Folder,
        role: &str,
        is_supported: impl Fn(Self) -> bool,
    ) -> Result<Self, LocalError> {
        let config: Value = folder.required(CONFIG)?;
        let stated = config["model_type"].as_str().unwrap_or("unknown");
        let supported = Self::ALL.into_iter().filter(|family| is_supported(*family));
        let mut found = supported.clone();
        let found = found.find(|family| family.model_type() == stated);
        found.ok_or_else(|| {
            let names = supported.map(|family| format!("`{}`", family.model_type()));
            let names = names.collect::<Vec<_>>().join(", ");
            let reason = format!("is of the family `{stated}`; {role} are {names}");
            folder.unusable(CONFIG, reason)
        })
    }
}
