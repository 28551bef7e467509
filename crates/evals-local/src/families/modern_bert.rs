//! `ModernBERT`: rotary positions, normalisation before each half of a layer, gated linear maps, and attention that reaches over
//! the whole text only in some layers.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::builder::Builder;
use super::config::{CONFIG, activation, check_count, check_rope};
use crate::encoder::{
    Activation, Attention, Encoder, FeedForward, Gate, Heads, Layer, Mask, NormPlace,
    PositionScheme, Rotary, TokenEmbeddings,
};
use crate::error::LocalError;
use crate::folder::Folder;

/// The table of token embeddings, by which the prefix of a checkpoint is found.
pub(super) const TOKENS: &str = "embeddings.tok_embeddings.weight";

/// The reach of attention in a layer, as newer configurations name it.
const GLOBAL: &str = "full_attention";
const LOCAL: &str = "sliding_attention";

#[derive(Debug, Deserialize)]
struct Config {
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    hidden_activation: String,
    norm_eps: f32,
    local_attention: usize,
    global_attn_every_n_layers: Option<usize>,
    global_rope_theta: Option<f64>,
    local_rope_theta: Option<f64>,
    /// Newer configurations name the reach of each layer.
    layer_types: Option<Vec<String>>,
    /// Half of the window. It overrides `local_attention`.
    sliding_window: Option<usize>,
    /// Newer configurations state the bases of rotary positions here, by reach.
    rope_parameters: Option<Map<String, Value>>,
    rope_scaling: Option<Map<String, Value>>,
}

impl Config {
    fn is_global(&self, layer: usize) -> bool {
        match &self.layer_types {
            Some(types) => types.get(layer).is_some_and(|reach| reach == GLOBAL),
            None => layer.is_multiple_of(self.global_attn_every_n_layers.unwrap_or(3)),
        }
    }

    fn base(&self, reach: &str, stated: Option<f64>, default: f64) -> f64 {
        let newer = self
            .rope_parameters
            .as_ref()
            .and_then(|bases| bases.get(reach)?.get("rope_theta")?.as_f64());
        newer.or(stated).unwrap_or(default)
    }

    /// How many tokens local attention sees on each side.
    fn reach(&self) -> usize {
        self.sliding_window.unwrap_or(self.local_attention / 2)
    }

    /// Refuses variants that this engine would compute differently.
    fn check(&self, folder: &Folder) -> Result<(), LocalError> {
        if let Some(types) = &self.layer_types {
            check_count(folder, types, self.num_hidden_layers)?;
            let mut other = types
                .iter()
                .filter(|kind| ![GLOBAL, LOCAL].contains(&kind.as_str()));
            if let Some(kind) = other.next() {
                return Err(folder.unsupported(CONFIG, "layer_types", kind));
            }
        }
        for (reach, rope) in self.rope_parameters.iter().flatten() {
            let known = [GLOBAL, LOCAL].contains(&reach.as_str());
            let Some(rope) = rope.as_object().filter(|_| known) else {
                return Err(folder.unsupported(CONFIG, "rope_parameters", reach));
            };
            check_rope(folder, "rope_parameters", rope)?;
        }
        let Some(scaling) = &self.rope_scaling else {
            return Ok(());
        };
        check_rope(folder, "rope_scaling", scaling)?;
        // It would override the bases of both reaches.
        match scaling.get("rope_theta") {
            Some(base) => Err(folder.unsupported(CONFIG, "rope_scaling", base.to_string())),
            None => Ok(()),
        }
    }
}

pub(super) fn encoder(folder: &Folder, builder: Builder) -> Result<(Encoder, Builder), LocalError> {
    let config: Config = folder.required(CONFIG)?;
    config.check(folder)?;
    let activation = activation(folder, "hidden_activation", &config.hidden_activation)?;
    let width = config.hidden_size;
    let rotary = |base| {
        let head_size = width / config.num_attention_heads;
        Arc::new(Rotary::new(base, head_size, config.max_position_embeddings))
    };
    let global = rotary(config.base(GLOBAL, config.global_rope_theta, 160_000.0));
    let local = rotary(config.base(LOCAL, config.local_rope_theta, 10_000.0));
    let layers = (0..config.num_hidden_layers)
        .map(|index| {
            let (rotary, mask) = if config.is_global(index) {
                (&global, Mask::Full)
            } else {
                (&local, Mask::Window(config.reach()))
            };
            layer(
                &config,
                activation,
                &builder,
                index,
                Arc::clone(rotary),
                mask,
            )
        })
        .collect::<Result<_, _>>()?;
    let encoder = Encoder {
        embeddings: TokenEmbeddings {
            words: builder.table(TOKENS, width)?,
            positions: None,
            segments: None,
            norm: Some(builder.norm("embeddings.norm", width, config.norm_eps)?),
            width,
        },
        layers,
        norm_place: NormPlace::Before,
        final_norm: Some(builder.norm("final_norm", width, config.norm_eps)?),
        max_positions: Some(config.max_position_embeddings),
    };
    Ok((encoder, builder))
}

fn layer(
    config: &Config,
    activation: Activation,
    builder: &Builder,
    index: usize,
    rotary: Arc<Rotary>,
    mask: Mask,
) -> Result<Layer, LocalError> {
    let (width, wide) = (config.hidden_size, config.intermediate_size);
    let name = |part: &str| format!("layers.{index}.{part}");
    Ok(Layer {
        attention: Attention {
            query_key_value: builder.linear(&name("attn.Wqkv"), width, 3 * width)?,
            output: builder.linear(&name("attn.Wo"), width, width)?,
            heads: Heads::sharing(width, config.num_attention_heads),
            head_norms: None,
            positions: PositionScheme::Rotary(rotary),
            mask,
        },
        // The embeddings already normalised the input of the first layer.
        attention_norm: match index {
            0 => None,
            _ => Some(builder.norm(&name("attn_norm"), width, config.norm_eps)?),
        },
        feed_forward: FeedForward {
            up: builder.linear(&name("mlp.Wi"), width, 2 * wide)?,
            down: builder.linear(&name("mlp.Wo"), wide, width)?,
            activation,
            gate: Gate::Half,
        },
        feed_forward_norm: builder.norm(&name("mlp_norm"), width, config.norm_eps)?,
    })
}
