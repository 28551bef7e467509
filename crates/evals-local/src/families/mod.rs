//! One file for each family of architectures: what its `config.json` says, and which tensors make its encoder.

mod bert;
mod builder;
mod config;
mod modern_bert;
mod nomic_bert;
mod qwen;
mod xlnet;

pub(crate) use builder::Builder;
pub(crate) use config::activation;

use crate::encoder::Encoder;
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;
use crate::settings::Dtype;
use crate::weights::Weights;
use config::Sizes;

/// The table of token embeddings of a family, and the prefixes under which checkpoints may keep it and the other tensors of the
/// encoder.
fn tokens(family: Family) -> (&'static str, &'static [&'static str]) {
    match family {
        Family::Bert | Family::NomicBert => (bert::TOKENS, &["", "bert."]),
        Family::Roberta | Family::XlmRoberta => (bert::TOKENS, &["", "roberta."]),
        Family::ModernBert => (modern_bert::TOKENS, &["", "model."]),
        Family::Qwen2 | Family::Qwen3 => (qwen::TOKENS, &["", "model."]),
        Family::Xlnet => (xlnet::TOKENS, &["", "transformer."]),
    }
}

/// Loads the encoder of a folder whose family is known. The builder still has the weights that are left for a head.
pub(crate) fn encoder(
    folder: &Folder,
    family: Family,
    weights: Weights,
    dtype: Dtype,
) -> Result<(Encoder, Builder), LocalError> {
    let sizes = &Sizes::read(folder, family)?;
    let (tokens, prefixes) = tokens(family);
    let builder = Builder::new(weights.below(prefixes, tokens), dtype);
    let encoder = match family {
        Family::Bert | Family::Roberta | Family::XlmRoberta => {
            bert::encoder(folder, sizes, &builder, family)
        }
        Family::ModernBert => modern_bert::encoder(folder, sizes, &builder),
        Family::NomicBert => nomic_bert::encoder(folder, sizes, &builder),
        Family::Xlnet => xlnet::encoder(folder, sizes, &builder),
        Family::Qwen2 | Family::Qwen3 => qwen::encoder(folder, sizes, &builder, family),
    };
    Ok((encoder?, builder.root()))
}
