//! One file for each family of architectures: what its `config.json` says, and which tensors make its encoder.

mod bert;
mod bert_layer;
mod builder;
mod config;
mod deberta;
mod modern_bert;
mod nomic_bert;
mod qwen;
mod sizes;
mod xlnet;

pub(crate) use builder::Builder;
pub(crate) use config::activation;

use crate::encoder::Encoder;
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;
use crate::settings::Dtype;
use crate::weights::Weights;

/// Prefixes under which checkpoints of a family may keep the encoder's tensors.
fn prefixes(family: Family) -> &'static [&'static str] {
    match family {
        Family::Bert | Family::NomicBert => &["", "bert."],
        Family::Roberta | Family::XlmRoberta => &["", "roberta."],
        Family::ModernBert | Family::Qwen2 | Family::Qwen3 => &["", "model."],
        Family::DebertaV2 => &["", "deberta."],
        Family::Xlnet => &["", "transformer."],
    }
}

/// Loads the encoder of a folder whose family is known. The builder still has the weights that are left for a head.
pub(crate) fn encoder(
    folder: &Folder,
    family: Family,
    weights: Weights,
    dtype: Dtype,
) -> Result<(Encoder, Builder), LocalError> {
    sizes::check(folder, family)?;
    let first = match family {
        Family::ModernBert => modern_bert::TOKENS,
        Family::Xlnet => xlnet::TOKENS,
        Family::Qwen2 | Family::Qwen3 => qwen::TOKENS,
        Family::Bert
        | Family::Roberta
        | Family::XlmRoberta
        | Family::NomicBert
        | Family::DebertaV2 => bert_layer::TOKENS,
    };
    let builder = Builder::new(weights.below(prefixes(family), first), dtype);
    match family {
        Family::Bert => bert::encoder(folder, builder, bert::FirstPosition::Zero),
        Family::Roberta | Family::XlmRoberta => {
            bert::encoder(folder, builder, bert::FirstPosition::AfterPadding)
        }
        Family::ModernBert => modern_bert::encoder(folder, builder),
        Family::NomicBert => nomic_bert::encoder(folder, builder),
        Family::DebertaV2 => deberta::encoder(folder, builder),
        Family::Xlnet => xlnet::encoder(folder, builder),
        Family::Qwen2 => qwen::encoder(folder, builder, qwen::Generation::Qwen2),
        Family::Qwen3 => qwen::encoder(folder, builder, qwen::Generation::Qwen3),
    }
}
