//! BERT, `RoBERTa` and XLM-RoBERTa: learned positions, normalisation after each half of a layer.

use serde::Deserialize;

use super::builder::Builder;
use super::config::{CONFIG, Sizes, activation, gelu};
use crate::encoder::{
    Activation, Attention, Encoder, FeedForward, Gate, Layer, Mask, NormPlace, PositionScheme,
    Positions, TokenEmbeddings,
};
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;

/// The table of token embeddings, by which the prefix of a checkpoint is found.
pub(super) const TOKENS: &str = "embeddings.word_embeddings.weight";

/// What no published embedder or cross-encoder has otherwise. In a decoder, tokens would see only those before them.
const PERMITTED: [(&str, &[&str]); 2] = [
    ("position_embedding_type", &["absolute"]),
    ("is_decoder", &["false"]),
];

#[derive(Debug, Deserialize)]
struct BertConfig {
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    /// Only `RoBERTa` uses it.
    #[serde(default = "padding")]
    pad_token_id: Option<i64>,
}

fn epsilon() -> f32 {
    1e-12
}

/// The default of transformers.
#[expect(clippy::unnecessary_wraps, reason = "the default of an `Option`")]
fn padding() -> Option<i64> {
    Some(1)
}

impl BertConfig {
    /// The padding token.
    fn padding(&self, folder: &Folder) -> Result<u32, LocalError> {
        let stated = self.pad_token_id;
        let refused = || {
            let value = stated.map_or("null".to_owned(), |stated| stated.to_string());
            folder.unsupported(CONFIG, "pad_token_id", value)
        };
        let padding = stated.and_then(|stated| u32::try_from(stated).ok());
        padding.ok_or_else(refused)
    }
}

pub(super) fn encoder(
    folder: &Folder,
    sizes: &Sizes,
    builder: &Builder,
    family: Family,
) -> Result<Encoder, LocalError> {
    folder.permit(CONFIG, &PERMITTED)?;
    let config: BertConfig = folder.required(CONFIG)?;
    let activation = activation(folder, "hidden_act", &config.hidden_act)?;
    let (width, epsilon) = (sizes.width, config.layer_norm_eps);
    let positions = builder.table("embeddings.position_embeddings.weight", width)?;
    // In `RoBERTa`, the first token has the row after that of the padding token.
    let uncounted = (family != Family::Bert).then(|| config.padding(folder));
    let uncounted = uncounted.transpose()?;
    let first = uncounted.map_or(0, |padding| (padding as usize).saturating_add(1));
    let max_positions = (positions.len() / width).saturating_sub(first);
    let embeddings = TokenEmbeddings {
        positions: Some(Positions {
            rows: positions,
            first,
            uncounted,
        }),
        segments: Some(builder.table("embeddings.token_type_embeddings.weight", width)?),
        norm: Some(builder.norm("embeddings.LayerNorm", width, epsilon)?),
        ..builder.words(TOKENS, width)?
    };
    let layers = (0..sizes.layers).map(|index| layer(sizes, builder, index, activation, epsilon));
    Ok(Encoder {
        embeddings,
        layers: layers.collect::<Result<_, _>>()?,
        norm_place: NormPlace::After,
        final_norm: None,
        max_positions: Some(max_positions),
    })
}

fn layer(
    sizes: &Sizes,
    builder: &Builder,
    index: usize,
    activation: Activation,
    epsilon: f32,
) -> Result<Layer, LocalError> {
    let (width, wide) = (sizes.width, sizes.wide);
    let name = |part: &str| format!("encoder.layer.{index}.{part}");
    let projections = ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
    let linear = |part: &str, inputs, outputs| {
        builder.linear(&name(&format!("{part}.dense")), inputs, outputs)
    };
    let norm = |part: &str| builder.norm(&name(&format!("{part}.LayerNorm")), width, epsilon);
    Ok(Layer {
        attention: Attention {
            query_key_value: builder.joined(&projections, width, width)?,
            output: linear("attention.output", width, width)?,
            heads: sizes.even_heads(),
            head_norms: None,
            positions: PositionScheme::Absolute,
            mask: Mask::Full,
        },
        attention_norm: Some(norm("attention.output")?),
        feed_forward: FeedForward {
            up: linear("intermediate", width, wide)?,
            down: linear("output", wide, width)?,
            activation,
            gate: Gate::None,
        },
        feed_forward_norm: norm("output")?,
    })
}
