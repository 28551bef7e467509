//! One file for each family of architectures: which tensors make its encoder, and what its configuration says.

mod bert;
mod bert_layer;
mod blocks;
mod deberta;
mod modern_bert;
mod nomic_bert;
mod qwen;
mod rope;
mod sizes;
mod xlnet;

use serde_json::Value;

use super::encoder::{Activation, Encoder};
use super::error::LocalError;
use super::folder::Folder;
use super::settings::Dtype;
use super::weights::Weights;

pub(super) use blocks::Builder;

const CONFIG: &str = "config.json";

/// What configurations mean that name no activation.
fn gelu() -> String {
    "gelu".to_owned()
}

/// The activation that `config.json` names by this key.
pub(super) fn activation(
    folder: &Folder,
    key: &'static str,
    name: &str,
) -> Result<Activation, LocalError> {
    Activation::named(name).ok_or_else(|| folder.unsupported(CONFIG, key, name))
}

/// Refuses kinds of layers of which there are not as many as layers.
fn check_count(folder: &Folder, types: &[String], layers: usize) -> Result<(), LocalError> {
    if types.len() == layers {
        return Ok(());
    }
    let value = format!("{} kinds for {layers} layers", types.len());
    Err(folder.unsupported(CONFIG, "layer_types", value))
}

fn model_type(folder: &Folder) -> Result<String, LocalError> {
    let config: Value = folder.required(CONFIG)?;
    let model_type = config["model_type"].as_str().unwrap_or("unknown");
    Ok(model_type.to_owned())
}

/// A family of architectures, by the `model_type` of its configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    Bert,
    Roberta,
    XlmRoberta,
    ModernBert,
    NomicBert,
    DebertaV2,
    Xlnet,
    Qwen2,
    Qwen3,
}

impl Family {
    const ALL: [(&'static str, Self); 9] = [
        ("bert", Self::Bert),
        ("roberta", Self::Roberta),
        ("xlm-roberta", Self::XlmRoberta),
        ("modernbert", Self::ModernBert),
        ("nomic_bert", Self::NomicBert),
        ("deberta-v2", Self::DebertaV2),
        ("xlnet", Self::Xlnet),
        ("qwen2", Self::Qwen2),
        ("qwen3", Self::Qwen3),
    ];

    /// Reads the family from `config.json`, and refuses those that cannot be run.
    pub(super) fn read(folder: &Folder) -> Result<Self, LocalError> {
        let model_type = model_type(folder)?;
        Self::named(&model_type).ok_or_else(|| LocalError::Family {
            path: folder.path(CONFIG),
            model_type,
            supported: Self::list(|_| true),
        })
    }

    /// The same for a reranker, which not every family has.
    pub(super) fn of_reranker(folder: &Folder) -> Result<Self, LocalError> {
        let model_type = model_type(folder)?;
        let known = Self::named(&model_type).filter(|family| family.reranks());
        known.ok_or_else(|| LocalError::RerankerFamily {
            path: folder.path(CONFIG),
            model_type,
            supported: Self::list(Self::reranks),
        })
    }

    fn named(model_type: &str) -> Option<Self> {
        let known = Self::ALL.iter().find(|(name, _)| *name == model_type);
        known.map(|(_, family)| *family)
    }

    /// Names to read of those families that are wanted.
    fn list(is_wanted: impl Fn(Self) -> bool) -> String {
        let wanted = Self::ALL.iter().filter(|(_, family)| is_wanted(*family));
        let names: Vec<String> = wanted.map(|(name, _)| format!("`{name}`")).collect();
        names.join(", ")
    }

    /// Whether it has a head that scores pairs.
    fn reranks(self) -> bool {
        self != Self::NomicBert
    }

    /// Its `model_type`.
    pub(super) fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, family)| *family == self);
        named.map_or("unknown", |(name, _)| name)
    }

    /// Whether tokens see only what comes before them.
    pub(super) fn is_decoder(self) -> bool {
        matches!(self, Self::Qwen2 | Self::Qwen3)
    }

    /// Whether queries and keys are turned by their positions.
    fn is_rotary(self) -> bool {
        self.is_decoder() || matches!(self, Self::ModernBert | Self::NomicBert)
    }

    /// Names under which checkpoints of the family may keep the encoder.
    fn prefixes(self) -> &'static [&'static str] {
        match self {
            Self::Bert | Self::NomicBert => &["", "bert."],
            Self::Roberta | Self::XlmRoberta => &["", "roberta."],
            Self::ModernBert | Self::Qwen2 | Self::Qwen3 => &["", "model."],
            Self::DebertaV2 => &["", "deberta."],
            Self::Xlnet => &["", "transformer."],
        }
    }

    /// Loads the encoder.
    pub(super) fn encoder(
        self,
        folder: &Folder,
        weights: Weights,
        dtype: Dtype,
    ) -> Result<(Encoder, Builder), LocalError> {
        sizes::check(folder, self)?;
        let first = match self {
            Self::ModernBert => "embeddings.tok_embeddings.weight",
            Self::Xlnet => "word_embedding.weight",
            Self::Qwen2 | Self::Qwen3 => qwen::TOKENS,
            _ => "embeddings.word_embeddings.weight",
        };
        let builder = Builder::new(weights.below(self.prefixes(), first), dtype);
        match self {
            Self::Bert => bert::encoder(folder, builder, bert::FirstPosition::Zero),
            Self::Roberta | Self::XlmRoberta => {
                bert::encoder(folder, builder, bert::FirstPosition::AfterPadding)
            }
            Self::ModernBert => modern_bert::encoder(folder, builder),
            Self::NomicBert => nomic_bert::encoder(folder, builder),
            Self::DebertaV2 => deberta::encoder(folder, builder),
            Self::Xlnet => xlnet::encoder(folder, builder),
            Self::Qwen2 => qwen::encoder(folder, builder, qwen::Generation::Qwen2),
            Self::Qwen3 => qwen::encoder(folder, builder, qwen::Generation::Qwen3),
        }
    }
}
