//! Qwen2 and Qwen3: decoders with grouped-query attention, rotary positions, normalisation by the mean square before each half of a
//! layer, and gated linear maps.

use std::sync::Arc;

use serde::Deserialize;

use super::builder::Builder;
use super::config::{CONFIG, RopeConfig, Sizes, activation, check_layer_types};
use crate::encoder::{
    Activation, Attention, Encoder, FeedForward, Gate, HeadNorms, Heads, Layer, Mask, NormPlace,
    PositionScheme, Rotary,
};
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;

/// The table of token embeddings, by which the prefix of a checkpoint is found.
pub(super) const TOKENS: &str = "embed_tokens.weight";

/// Whole causal attention, and no code of the model's own.
const PERMITTED: [(&str, &[&str]); 6] = [
    ("auto_map", &[]),
    ("is_causal", &["true"]),
    ("use_bidirectional_attention", &["false"]),
    ("partial_rotary_factor", &["1.0", "1"]),
    ("rope_scaling.partial_rotary_factor", &["1.0", "1"]),
    ("rope_parameters.partial_rotary_factor", &["1.0", "1"]),
];

#[derive(Debug, Deserialize)]
struct QwenConfig {
    num_key_value_heads: Option<usize>,
    hidden_act: String,
    rms_norm_eps: f32,
    #[serde(flatten)]
    rope: RopeConfig,
    #[serde(default)]
    use_sliding_window: bool,
    /// `null` turns it off. The default is on.
    #[serde(default = "window")]
    sliding_window: Option<usize>,
    #[serde(default = "first_window_layer")]
    max_window_layers: usize,
    layer_types: Option<Vec<String>>,
}

/// The default of transformers.
#[expect(clippy::unnecessary_wraps, reason = "the default of an `Option`")]
fn window() -> Option<usize> {
    Some(4096)
}

/// The default of transformers.
fn first_window_layer() -> usize {
    28
}

impl QwenConfig {
    /// The heads. There may be fewer of keys and values than of queries.
    fn heads(&self, folder: &Folder, sizes: &Sizes) -> Result<Heads, LocalError> {
        let keys = self.num_key_value_heads.unwrap_or(sizes.heads);
        if keys == 0 || !sizes.heads.is_multiple_of(keys) {
            return Err(folder.unsupported(CONFIG, "num_key_value_heads", keys.to_string()));
        }
        Ok(Heads {
            queries: sizes.heads,
            keys,
            size: sizes.head_size,
        })
    }

    /// Refuses variants that this engine would compute differently.
    fn check(&self, folder: &Folder, sizes: &Sizes) -> Result<(), LocalError> {
        folder.permit(CONFIG, &PERMITTED)?;
        folder.permit(CONFIG, &RopeConfig::PERMITTED)?;
        let ropes = [&self.rope.parameters, &self.rope.scaling];
        let mut values = ropes.into_iter().flatten().flatten();
        // It would be one for each kind of layer. This family has only one kind.
        if let Some((kind, _)) = values.find(|(_, value)| value.is_object()) {
            return Err(folder.unsupported(CONFIG, "rope_parameters", kind));
        }
        if let Some(types) = &self.layer_types {
            return check_layer_types(folder, types, sizes.layers, &["full_attention"]);
        }
        // Layers from `max_window_layers` on use the window.
        let is_used = self.use_sliding_window && self.max_window_layers < sizes.layers;
        match self.sliding_window {
            Some(window) if is_used => {
                Err(folder.unsupported(CONFIG, "sliding_window", window.to_string()))
            }
            _ => Ok(()),
        }
    }
}

pub(super) fn encoder(
    folder: &Folder,
    sizes: &Sizes,
    builder: &Builder,
    family: Family,
) -> Result<Encoder, LocalError> {
    let config: QwenConfig = folder.required(CONFIG)?;
    config.check(folder, sizes)?;
    let parts = LayerParts {
        sizes,
        builder,
        family,
        heads: config.heads(folder, sizes)?,
        activation: activation(folder, "hidden_act", &config.hidden_act)?,
        epsilon: config.rms_norm_eps,
        rotary: sizes.rotary(folder, config.rope.base().unwrap_or(10_000.0))?,
    };
    let layers = (0..sizes.layers).map(|index| parts.layer(index));
    Ok(Encoder {
        layers: layers.collect::<Result<_, _>>()?,
        embeddings: builder.words(TOKENS, sizes.width)?,
        norm_place: NormPlace::Before,
        final_norm: Some(builder.root_mean_square_norm("norm", sizes.width, parts.epsilon)?),
        max_positions: sizes.positions,
    })
}

/// What all layers share.
struct LayerParts<'model> {
    sizes: &'model Sizes,
    builder: &'model Builder,
    family: Family,
    heads: Heads,
    activation: Activation,
    epsilon: f32,
    rotary: Arc<Rotary>,
}

impl LayerParts<'_> {
    fn layer(&self, index: usize) -> Result<Layer, LocalError> {
        let Self { builder, heads, .. } = *self;
        let (width, wide) = (self.sizes.width, self.sizes.wide);
        let name = |part: &str| format!("layers.{index}.{part}");
        let norm =
            |part: &str, width| builder.root_mean_square_norm(&name(part), width, self.epsilon);
        let projections = [
            (name("self_attn.q_proj"), heads.query_width()),
            (name("self_attn.k_proj"), heads.key_width()),
            (name("self_attn.v_proj"), heads.key_width()),
        ];
        // Qwen2 has biases on queries, keys and values instead.
        let head_norms = match self.family {
            Family::Qwen3 => Some(HeadNorms {
                query: norm("self_attn.q_norm", heads.size)?,
                key: norm("self_attn.k_norm", heads.size)?,
            }),
            _ => None,
        };
        // The first map is the activated one.
        let gated = ["mlp.gate_proj", "mlp.up_proj"].map(name);
        Ok(Layer {
            attention: Attention {
                query_key_value: builder.side_by_side(&projections, width)?,
                output: builder.linear(&name("self_attn.o_proj"), heads.query_width(), width)?,
                heads,
                head_norms,
                positions: PositionScheme::Rotary(Arc::clone(&self.rotary)),
                mask: Mask::Causal,
            },
            attention_norm: Some(norm("input_layernorm", width)?),
            feed_forward: FeedForward {
                up: builder.joined(&gated, width, wide)?,
                down: builder.linear(&name("mlp.down_proj"), wide, width)?,
                activation: self.activation,
                gate: Gate::Half,
            },
            feed_forward_norm: norm("post_attention_layernorm", width)?,
        })
    }
}
