//! `ModernBERT`: rotary positions, normalisation before each half of a layer, gated linear maps, and attention that reaches over
//! the whole text only in some layers.

use std::num::NonZeroUsize;
use std::sync::Arc;

use serde::Deserialize;

use super::builder::Builder;
use super::config::{CONFIG, RopeConfig, Sizes, activation, check_layer_types};
use crate::encoder::{
    Activation, Attention, Encoder, FeedForward, Gate, Layer, Mask, NormPlace, PositionScheme,
    Rotary, TokenEmbeddings,
};
use crate::error::LocalError;
use crate::folder::Folder;

/// The table of token embeddings, by which the prefix of a checkpoint is found.
pub(super) const TOKENS: &str = "embeddings.tok_embeddings.weight";

/// The reach of attention in a layer, as newer configurations name it.
const GLOBAL: &str = "full_attention";
const LOCAL: &str = "sliding_attention";

/// Rotation that is not scaled, and no base that would override those of both reaches.
const PERMITTED: [(&str, &[&str]); 5] = [
    ("rope_parameters.full_attention.rope_type", &["default"]),
    ("rope_parameters.full_attention.type", &["default"]),
    ("rope_parameters.sliding_attention.rope_type", &["default"]),
    ("rope_parameters.sliding_attention.type", &["default"]),
    ("rope_scaling.rope_theta", &[]),
];

#[derive(Debug, Deserialize)]
struct ModernConfig {
    hidden_activation: String,
    norm_eps: f32,
    local_attention: usize,
    global_attn_every_n_layers: Option<NonZeroUsize>,
    global_rope_theta: Option<f64>,
    local_rope_theta: Option<f64>,
    /// Newer configurations name the reach of each layer.
    layer_types: Option<Vec<String>>,
    /// Half of the window. It overrides `local_attention`.
    sliding_window: Option<usize>,
    /// Newer configurations state the bases of rotary positions here, by reach.
    #[serde(flatten)]
    rope: RopeConfig,
}

impl ModernConfig {
    fn is_global(&self, layer: usize) -> bool {
        match &self.layer_types {
            Some(types) => types.get(layer).is_some_and(|reach| reach == GLOBAL),
            None => {
                layer.is_multiple_of(self.global_attn_every_n_layers.map_or(3, NonZeroUsize::get))
            }
        }
    }

    fn base(&self, reach: &str, stated: Option<f64>, default: f64) -> f64 {
        let bases = self.rope.parameters.as_ref();
        let newer = bases.and_then(|bases| bases.get(reach)?.get("rope_theta")?.as_f64());
        newer.or(stated).unwrap_or(default)
    }

    /// How many tokens local attention sees on each side.
    fn reach(&self) -> usize {
        self.sliding_window.unwrap_or(self.local_attention / 2)
    }

    /// Refuses variants that this engine would compute differently.
    fn check(&self, folder: &Folder, sizes: &Sizes) -> Result<(), LocalError> {
        folder.permit(CONFIG, &PERMITTED)?;
        folder.permit(CONFIG, &RopeConfig::PERMITTED)?;
        if let Some(types) = &self.layer_types {
            check_layer_types(folder, types, sizes.layers, &[GLOBAL, LOCAL])?;
        }
        let mut bases = self.rope.parameters.iter().flatten();
        let known = [GLOBAL, LOCAL];
        match bases.find(|(reach, base)| !known.contains(&reach.as_str()) || !base.is_object()) {
            Some((reach, _)) => Err(folder.unsupported(CONFIG, "rope_parameters", reach)),
            None => Ok(()),
        }
    }
}

pub(super) fn encoder(
    folder: &Folder,
    sizes: &Sizes,
    builder: &Builder,
) -> Result<Encoder, LocalError> {
    let config: ModernConfig = folder.required(CONFIG)?;
    config.check(folder, sizes)?;
    let activation = activation(folder, "hidden_activation", &config.hidden_activation)?;
    let (width, epsilon) = (sizes.width, config.norm_eps);
    let base = |reach, stated, default| config.base(reach, stated, default);
    let global = base(GLOBAL, config.global_rope_theta, 160_000.0);
    let local = base(LOCAL, config.local_rope_theta, 10_000.0);
    let (global, local) = (sizes.rotary(folder, global)?, sizes.rotary(folder, local)?);
    let layers = (0..sizes.layers).map(|index| {
        let (rotary, mask) = if config.is_global(index) {
            (&global, Mask::Full)
        } else {
            (&local, Mask::Window(config.reach()))
        };
        let rotary = Arc::clone(rotary);
        layer(sizes, builder, index, (activation, epsilon), rotary, mask)
    });
    Ok(Encoder {
        layers: layers.collect::<Result<_, _>>()?,
        embeddings: TokenEmbeddings {
            norm: Some(builder.norm("embeddings.norm", width, epsilon)?),
            ..builder.words(TOKENS, width)?
        },
        norm_place: NormPlace::Before,
        final_norm: Some(builder.norm("final_norm", width, epsilon)?),
        max_positions: sizes.positions,
    })
}

fn layer(
    sizes: &Sizes,
    builder: &Builder,
    index: usize,
    (activation, epsilon): (Activation, f32),
    rotary: Arc<Rotary>,
    mask: Mask,
) -> Result<Layer, LocalError> {
    let (width, wide) = (sizes.width, sizes.wide);
    let name = |part: &str| format!("layers.{index}.{part}");
    let norm = |part: &str| builder.norm(&name(part), width, epsilon);
    Ok(Layer {
        attention: Attention {
            query_key_value: builder.linear(&name("attn.Wqkv"), width, 3 * width)?,
            output: builder.linear(&name("attn.Wo"), width, width)?,
            heads: sizes.even_heads(),
            head_norms: None,
            positions: PositionScheme::Rotary(rotary),
            mask,
        },
        // The embeddings already normalised the input of the first layer.
        attention_norm: (index > 0).then(|| norm("attn_norm")).transpose()?,
        feed_forward: FeedForward {
            up: builder.linear(&name("mlp.Wi"), width, 2 * wide)?,
            down: builder.linear(&name("mlp.Wo"), wide, width)?,
            activation,
            gate: Gate::Half,
        },
        feed_forward_norm: norm("mlp_norm")?,
    })
}
