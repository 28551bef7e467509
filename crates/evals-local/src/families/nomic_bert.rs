//! nomic-bert: BERT with rotary positions and gated linear maps, and without biases.

use std::sync::Arc;

use serde::Deserialize;

use super::bert::TOKENS;
use super::builder::Builder;
use super::config::{CONFIG, RopeConfig, Sizes};
use crate::encoder::{
    Activation, Attention, Encoder, FeedForward, Gate, Layer, Mask, NormPlace, PositionScheme,
    Rotary, TokenEmbeddings,
};
use crate::error::LocalError;
use crate::folder::Folder;

/// What no published model has otherwise.
const PERMITTED: [(&str, &[&str]); 7] = [
    ("rotary_emb_fraction", &["1.0", "1"]),
    ("rotary_scaling_factor", &[]),
    ("rotary_emb_interleaved", &["false"]),
    ("prenorm", &["false"]),
    ("causal", &["false"]),
    ("parallel_block", &["false"]),
    ("use_rms_norm", &["false"]),
];

/// The keys of published configurations, and those that transformers writes.
#[derive(Debug, Deserialize)]
struct NomicConfig {
    #[serde(alias = "layer_norm_eps")]
    layer_norm_epsilon: f32,
    #[serde(alias = "hidden_act")]
    activation_function: String,
    rotary_emb_base: Option<f64>,
    #[serde(flatten)]
    rope: RopeConfig,
}

pub(super) fn encoder(
    folder: &Folder,
    sizes: &Sizes,
    builder: &Builder,
) -> Result<Encoder, LocalError> {
    folder.permit(CONFIG, &PERMITTED)?;
    folder.permit(CONFIG, &RopeConfig::PERMITTED)?;
    let config: NomicConfig = folder.required(CONFIG)?;
    if !["swiglu", "silu"].contains(&config.activation_function.as_str()) {
        return Err(folder.unsupported(CONFIG, "activation_function", config.activation_function));
    }
    let (width, epsilon) = (sizes.width, config.layer_norm_epsilon);
    let base = config.rope.base().or(config.rotary_emb_base);
    let rotary = sizes.rotary(folder, base.unwrap_or(1000.0))?;
    let layers =
        (0..sizes.layers).map(|index| layer(sizes, builder, index, epsilon, Arc::clone(&rotary)));
    Ok(Encoder {
        layers: layers.collect::<Result<_, _>>()?,
        embeddings: TokenEmbeddings {
            segments: Some(builder.table("embeddings.token_type_embeddings.weight", width)?),
            norm: Some(builder.norm("emb_ln", width, epsilon)?),
            ..builder.words(TOKENS, width)?
        },
        norm_place: NormPlace::After,
        final_norm: None,
        max_positions: sizes.positions,
    })
}

fn layer(
    sizes: &Sizes,
    builder: &Builder,
    index: usize,
    epsilon: f32,
    rotary: Arc<Rotary>,
) -> Result<Layer, LocalError> {
    let (width, wide) = (sizes.width, sizes.wide);
    let name = |part: &str| format!("encoder.layers.{index}.{part}");
    // The second map is the activated one.
    let gated = ["mlp.fc12", "mlp.fc11"].map(name);
    Ok(Layer {
        attention: Attention {
            query_key_value: builder.linear(&name("attn.Wqkv"), width, 3 * width)?,
            output: builder.linear(&name("attn.out_proj"), width, width)?,
            heads: sizes.even_heads(),
            head_norms: None,
            positions: PositionScheme::Rotary(rotary),
            mask: Mask::Full,
        },
        attention_norm: Some(builder.norm(&name("norm1"), width, epsilon)?),
        feed_forward: FeedForward {
            up: builder.joined(&gated, width, wide)?,
            down: builder.linear(&name("mlp.fc2"), wide, width)?,
            activation: Activation::Silu,
            gate: Gate::Half,
        },
        feed_forward_norm: builder.norm(&name("norm2"), width, epsilon)?,
    })
}
