//! BERT, `RoBERTa` and XLM-RoBERTa: learned positions, normalisation after each half of a layer.

use serde::Deserialize;

use super::bert_layer::{BertLayer, TOKENS};
use super::builder::Builder;
use super::config::{CONFIG, activation, gelu};
use crate::encoder::{Encoder, NormPlace, PositionScheme, Positions, TokenEmbeddings};
use crate::error::LocalError;
use crate::folder::Folder;

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
    /// Only `RoBERTa` uses it.
    #[serde(default = "padding")]
    pad_token_id: Option<i64>,
    is_decoder: Option<bool>,
}

fn epsilon() -> f32 {
    1e-12
}

/// The default of transformers.
#[expect(clippy::unnecessary_wraps, reason = "the default of an `Option`")]
fn padding() -> Option<i64> {
    Some(1)
}

impl Config {
    /// Refuses variants that no published embedder or cross-encoder uses.
    fn check(&self, folder: &Folder) -> Result<(), LocalError> {
        if let Some(kind) = self.position_embedding_type.as_deref()
            && kind != "absolute"
        {
            return Err(folder.unsupported(CONFIG, "position_embedding_type", kind));
        }
        // Tokens would see only those before them.
        if self.is_decoder == Some(true) {
            return Err(folder.unsupported(CONFIG, "is_decoder", "true"));
        }
        Ok(())
    }

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

/// Which row of the positions belongs to the first token of a text.
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
    config.check(folder)?;
    let activation = activation(folder, "hidden_act", &config.hidden_act)?;
    let width = config.hidden_size;
    let positions = builder.table("embeddings.position_embeddings.weight", width)?;
    let (first, uncounted) = match first {
        FirstPosition::Zero => (0, None),
        FirstPosition::AfterPadding => {
            let padding = config.padding(folder)?;
            ((padding as usize).saturating_add(1), Some(padding))
        }
    };
    let max_positions = (positions.len() / width).saturating_sub(first);
    let embeddings = TokenEmbeddings {
        words: builder.table(TOKENS, width)?,
        positions: Some(Positions {
            rows: positions,
            first,
            uncounted,
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
