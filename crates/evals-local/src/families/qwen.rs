//! Qwen2 and Qwen3: decoders with grouped-query attention, rotary positions, normalisation by the mean square before each half of a
//! layer, and gated linear maps.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::builder::Builder;
use super::config::{CONFIG, activation, check_count, check_rope};
use crate::encoder::{
    Activation, Attention, Encoder, FeedForward, Gate, HeadNorms, Heads, Layer, Mask, NormPlace,
    PositionScheme, Rotary, TokenEmbeddings,
};
use crate::error::LocalError;
use crate::folder::Folder;

/// The table of token embeddings, by which the prefix of a checkpoint is found.
pub(super) const TOKENS: &str = "embed_tokens.weight";

/// The generation, by its difference from the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generation {
    /// Biases on queries, keys and values.
    Qwen2,
    /// Normalises the query and the key of each head.
    Qwen3,
}

#[derive(Debug, Deserialize)]
struct Config {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    num_key_value_heads: Option<usize>,
    head_dim: Option<usize>,
    intermediate_size: usize,
    max_position_embeddings: usize,
    hidden_act: String,
    rms_norm_eps: f32,
    rope_theta: Option<f64>,
    rope_scaling: Option<Map<String, Value>>,
    partial_rotary_factor: Option<f64>,
    /// Newer configurations state the base and the scaling of positions here.
    rope_parameters: Option<Map<String, Value>>,
    #[serde(default)]
    use_sliding_window: bool,
    /// `null` turns it off. The default is on.
    #[serde(default = "window")]
    sliding_window: Option<usize>,
    #[serde(default = "first_window_layer")]
    max_window_layers: usize,
    layer_types: Option<Vec<String>>,
    is_causal: Option<bool>,
    use_bidirectional_attention: Option<bool>,
    auto_map: Option<Map<String, Value>>,
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

impl Config {
    fn heads(&self) -> Heads {
        let even = self.hidden_size / self.num_attention_heads;
        Heads {
            queries: self.num_attention_heads,
            keys: self.num_key_value_heads.unwrap_or(self.num_attention_heads),
            size: self.head_dim.unwrap_or(even),
        }
    }

    fn base(&self) -> f64 {
        let mut ropes = [&self.rope_parameters, &self.rope_scaling]
            .into_iter()
            .flatten();
        let newer = ropes.find_map(|rope| rope.get("rope_theta")?.as_f64());
        newer.or(self.rope_theta).unwrap_or(10_000.0)
    }

    /// Refuses variants that this engine would compute differently.
    fn check(&self, folder: &Folder) -> Result<(), LocalError> {
        let refused = |key, value: String| Err(folder.unsupported(CONFIG, key, value));
        if let Some(code) = self.auto_map.as_ref().and_then(|map| map.values().next()) {
            return refused("auto_map", code.as_str().unwrap_or("code").to_owned());
        }
        if self.is_causal == Some(false) {
            return refused("is_causal", "false".to_owned());
        }
        if self.use_bidirectional_attention == Some(true) {
            return refused("use_bidirectional_attention", "true".to_owned());
        }
        let heads = self.heads();
        if heads.keys == 0 || !heads.queries.is_multiple_of(heads.keys) {
            return refused("num_key_value_heads", heads.keys.to_string());
        }
        self.check_window(folder)?;
        self.check_positions(folder)
    }

    fn check_window(&self, folder: &Folder) -> Result<(), LocalError> {
        if let Some(types) = &self.layer_types {
            check_count(folder, types, self.num_hidden_layers)?;
            let other = types.iter().find(|kind| *kind != "full_attention");
            return match other {
                Some(kind) => Err(folder.unsupported(CONFIG, "layer_types", kind)),
                None => Ok(()),
            };
        }
        // Layers from `max_window_layers` on use the window.
        let is_used = self.use_sliding_window && self.max_window_layers < self.num_hidden_layers;
        match self.sliding_window {
            Some(window) if is_used => {
                Err(folder.unsupported(CONFIG, "sliding_window", window.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn check_positions(&self, folder: &Folder) -> Result<(), LocalError> {
        if let Some(part) = self.partial_rotary_factor
            && part < 1.0
        {
            return Err(folder.unsupported(CONFIG, "partial_rotary_factor", part.to_string()));
        }
        for (key, rope) in [
            ("rope_scaling", &self.rope_scaling),
            ("rope_parameters", &self.rope_parameters),
        ] {
            let Some(rope) = rope else { continue };
            // It would be one for each kind of layer. This family has only one kind.
            if let Some((kind, _)) = rope.iter().find(|(_, value)| value.is_object()) {
                return Err(folder.unsupported(CONFIG, key, kind.clone()));
            }
            check_rope(folder, key, rope)?;
            let turned = rope.get("partial_rotary_factor").and_then(Value::as_f64);
            if let Some(part) = turned
                && part < 1.0
            {
                let value = format!("partial_rotary_factor {part}");
                return Err(folder.unsupported(CONFIG, key, value));
            }
        }
        Ok(())
    }
}

pub(super) fn encoder(
    folder: &Folder,
    builder: Builder,
    generation: Generation,
) -> Result<(Encoder, Builder), LocalError> {
    let config: Config = folder.required(CONFIG)?;
    config.check(folder)?;
    let activation = activation(folder, "hidden_act", &config.hidden_act)?;
    let width = config.hidden_size;
    let rotary = Arc::new(Rotary::new(
        config.base(),
        config.heads().size,
        config.max_position_embeddings,
    ));
    let layers = (0..config.num_hidden_layers)
        .map(|index| {
            let rotary = Arc::clone(&rotary);
            layer(&config, generation, activation, &builder, index, rotary)
        })
        .collect::<Result<_, _>>()?;
    let encoder = Encoder {
        embeddings: TokenEmbeddings {
            words: builder.table(TOKENS, width)?,
            positions: None,
            segments: None,
            norm: None,
            width,
        },
        layers,
        norm_place: NormPlace::Before,
        final_norm: Some(builder.root_mean_square_norm("norm", width, config.rms_norm_eps)?),
        max_positions: Some(config.max_position_embeddings),
    };
    Ok((encoder, builder))
}

fn layer(
    config: &Config,
    generation: Generation,
    activation: Activation,
    builder: &Builder,
    index: usize,
    rotary: Arc<Rotary>,
) -> Result<Layer, LocalError> {
    let (width, wide, heads) = (config.hidden_size, config.intermediate_size, config.heads());
    let name = |part: &str| format!("layers.{index}.{part}");
    let norm =
        |part: &str, width| builder.root_mean_square_norm(&name(part), width, config.rms_norm_eps);
    let projections = [
        (name("self_attn.q_proj"), heads.query_width()),
        (name("self_attn.k_proj"), heads.key_width()),
        (name("self_attn.v_proj"), heads.key_width()),
    ];
    let head_norms = match generation {
        Generation::Qwen2 => None,
        Generation::Qwen3 => Some(HeadNorms {
            query: norm("self_attn.q_norm", heads.size)?,
            key: norm("self_attn.k_norm", heads.size)?,
        }),
    };
    // The first map is the activated one.
    let gated = ["mlp.gate_proj", "mlp.up_proj"].map(name);
    Ok(Layer {
        attention: Attention {
            query_key_value: builder.side_by_side(&projections, width)?,
            output: builder.linear(&name("self_attn.o_proj"), heads.query_width(), width)?,
            heads,
            head_norms,
            positions: PositionScheme::Rotary(rotary),
            mask: Mask::Causal,
        },
        attention_norm: Some(norm("input_layernorm", width)?),
        feed_forward: FeedForward {
            up: builder.joined(&gated, width, wide)?,
            down: builder.linear(&name("mlp.down_proj"), wide, width)?,
            activation,
            gate: Gate::Half,
        },
        feed_forward_norm: norm("post_attention_layernorm", width)?,
    })
}
