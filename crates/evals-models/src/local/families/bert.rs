//! BERT, `RoBERTa` and XLM-RoBERTa: learned positions, normalisation after each half of a layer.

use serde::Deserialize;

use super::super::encoder::{Encoder, NormPlace, PositionScheme, Positions, TokenEmbeddings};
use super::super::error::LocalError;
use super::super::folder::Folder;
use super::bert_layer::BertLayer;
use super::{Builder, CONFIG, activation, gelu};

const PROJECTIONS: [&str; 3] = ["query", "key", "value"];

#[derive(Debug, Deserialize)]
struct Config {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    #[serde(default = "gelu")]
    hidden_act: String,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    position_embedding_type: Option<String>,
    pad_token_id: Option<usize>,
}

fn epsilon() -> f32 {
    1e-12
}

/// Which row of the positions belongs to a text's first token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FirstPosition {
    Zero,
    /// The row after that of the padding token.
    AfterPadding,
}

pub(super) fn encoder(
    folder: &Folder,
    builder: Builder,
    first: FirstPosition,
) -> Result<(Encoder, Builder), LocalError> {
    let config: Config = folder.required(CONFIG)?;
    if let Some(kind) = config.position_embedding_type.as_deref()
        && kind != "absolute"
    {
        return Err(folder.unsupported(CONFIG, "position_embedding_type", kind));
    }
    let activation = activation(folder, "hidden_act", &config.hidden_act)?;
    let width = config.hidden_size;
    let positions = builder.table("embeddings.position_embeddings.weight", width)?;
    let first = match first {
        FirstPosition::Zero => 0,
        FirstPosition::AfterPadding => config.pad_token_id.unwrap_or(1).saturating_add(1),
    };
    let max_positions = (positions.len() / width).saturating_sub(first);
    let embeddings = TokenEmbeddings {
        words: builder.table("embeddings.word_embeddings.weight", width)?,
        positions: Some(Positions {
            rows: positions,
            first,
        }),
        segments: Some(builder.table("embeddings.token_type_embeddings.weight", width)?),
        norm: Some(builder.norm("embeddings.LayerNorm", width, config.layer_norm_eps)?),
        width,
    };
    let layer = BertLayer {
        width,
        wide: config.intermediate_size,
        heads: config.num_attention_heads,
        activation,
        epsilon: config.layer_norm_eps,
    };
    let layers = (0..config.num_hidden_layers)
        .map(|index| {
            let name = format!("encoder.layer.{index}");
            layer.load(&builder, &name, PROJECTIONS, PositionScheme::Absolute)
        })
        .collect::<Result<_, _>>()?;
    let encoder = Encoder {
        embeddings,
        layers,
        norm_place: NormPlace::After,
        final_norm: None,
        max_positions: Some(max_positions),
    };
    Ok((encoder, builder))
}
