//! The families of architectures that can run here: the one list behind errors, loading and documentation.

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
    /// `DeBERTa` v2 and v3: mxbai-rerank v1.
    DebertaV2,
    /// `XLNet`.
    Xlnet,
    /// Qwen2, a decoder: mxbai-rerank v2.
    Qwen2,
    /// Qwen3, a decoder: Qwen3-Embedding, Qwen3-Reranker.
    Qwen3,
}

impl Family {
    /// Every family, in the order in which errors list them.
    pub const ALL: [Self; 9] = [
        Self::Bert,
        Self::Roberta,
        Self::XlmRoberta,
        Self::ModernBert,
        Self::NomicBert,
        Self::DebertaV2,
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
            Self::DebertaV2 => "deberta-v2",
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
        let model_type = model_type(folder)?;
        Self::named(&model_type).ok_or_else(|| LocalError::Family {
            path: folder.path(CONFIG),
            model_type,
            supported: list(|_| true),
        })
    }

    /// Reads the family of a reranker. A family that cannot rerank is an error that lists those that can.
    pub(crate) fn of_reranker(folder: &Folder) -> Result<Self, LocalError> {
        let model_type = model_type(folder)?;
        let known = Self::named(&model_type).filter(|family| family.reranks());
        known.ok_or_else(|| LocalError::RerankerFamily {
            path: folder.path(CONFIG),
            model_type,
            supported: list(Self::reranks),
        })
    }

    fn named(model_type: &str) -> Option<Self> {
        let mut families = Self::ALL.into_iter();
        families.find(|family| family.model_type() == model_type)
    }
}

fn model_type(folder: &Folder) -> Result<String, LocalError> {
    let config: Value = folder.required(CONFIG)?;
    let model_type = config["model_type"].as_str().unwrap_or("unknown");
    Ok(model_type.to_owned())
}

/// The `model_type`s of some families, for a message.
fn list(is_listed: impl Fn(Family) -> bool) -> String {
    let listed = Family::ALL.into_iter().filter(|family| is_listed(*family));
    let names: Vec<String> = listed
        .map(|family| format!("`{}`", family.model_type()))
        .collect();
    names.join(", ")
}
