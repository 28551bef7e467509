//! nomic-bert: BERT with rotary positions and gated linear maps, and without biases.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::bert_layer::TOKENS;
use super::builder::Builder;
use super::config::{CONFIG, check_rope};
use crate::encoder::{
    Activation, Attention, Encoder, FeedForward, Gate, Heads, Layer, Mask, NormPlace,
    PositionScheme, Rotary, TokenEmbeddings,
};
use crate::error::LocalError;
use crate::folder::Folder;

/// The keys of published configurations, and those that transformers writes.
#[derive(Debug, Deserialize)]
struct Config {
    #[serde(alias = "hidden_size")]
    n_embd: usize,
    #[serde(alias = "num_hidden_layers")]
    n_layer: usize,
    #[serde(alias = "num_attention_heads")]
    n_head: usize,
    #[serde(alias = "intermediate_size")]
    n_inner: usize,
    #[serde(alias = "max_position_embeddings")]
    n_positions: usize,
    #[serde(alias = "layer_norm_eps")]
    layer_norm_epsilon: f32,
    #[serde(alias = "hidden_act")]
    activation_function: String,
    rotary_emb_base: Option<f64>,
    rotary_emb_fraction: Option<f64>,
    #[serde(default)]
    rotary_emb_interleaved: bool,
    rotary_scaling_factor: Option<f64>,
    rope_theta: Option<f64>,
    rope_parameters: Option<Map<String, Value>>,
    rope_scaling: Option<Map<String, Value>>,
    #[serde(default)]
    prenorm: bool,
    causal: Option<bool>,
    parallel_block: Option<bool>,
    use_rms_norm: Option<bool>,
}

impl Config {
    fn base(&self) -> f64 {
        let mut ropes = [&self.rope_parameters, &self.rope_scaling]
            .into_iter()
            .flatten();
        let newer = ropes.find_map(|rope| rope.get("rope_theta")?.as_f64());
        newer
            .or(self.rope_theta)
            .or(self.rotary_emb_base)
            .unwrap_or(1000.0)
    }

    /// Refuses variants that no published model uses.
    fn check(&self, folder: &Folder) -> Result<(), LocalError> {
        let refused = |key, value: String| Err(folder.unsupported(CONFIG, key, value));
        if !["swiglu", "silu"].contains(&self.activation_function.as_str()) {
            return refused("activation_function", self.activation_function.clone());
        }
        if let Some(fraction) = self.rotary_emb_fraction
            && fraction < 1.0
        {
            return refused("rotary_emb_fraction", fraction.to_string());
        }
        if let Some(factor) = self.rotary_scaling_factor {
            return refused("rotary_scaling_factor", factor.to_string());
        }
        if self.rotary_emb_interleaved {
            return refused("rotary_emb_interleaved", "true".to_owned());
        }
        let switches = [
            ("prenorm", self.prenorm),
            ("causal", self.causal == Some(true)),
            ("parallel_block", self.parallel_block == Some(true)),
            ("use_rms_norm", self.use_rms_norm == Some(true)),
        ];
        if let Some((key, _)) = switches.into_iter().find(|(_, on)| *on) {
            return refused(key, "true".to_owned());
        }
        for (key, rope) in [
            ("rope_parameters", &self.rope_parameters),
            ("rope_scaling", &self.rope_scaling),
        ] {
            if let Some(rope) = rope {
                check_rope(folder, key, rope)?;
            }
        }
        Ok(())
    }
}

pub(super) fn encoder(folder: &Folder, builder: Builder) -> Result<(Encoder, Builder), LocalError> {
    let config: Config = folder.required(CONFIG)?;
    config.check(folder)?;
    let width = config.n_embd;
    let rotary = Arc::new(Rotary::new(
        config.base(),
        width / config.n_head,
        config.n_positions,
    ));
    let layers = (0..config.n_layer)
        .map(|index| layer(&config, &builder, index, Arc::clone(&rotary)))
        .collect::<Result<_, _>>()?;
    let encoder = Encoder {
        embeddings: TokenEmbeddings {
            words: builder.table(TOKENS, width)?,
            positions: None,
            segments: Some(builder.table("embeddings.token_type_embeddings.weight", width)?),
            norm: Some(builder.norm("emb_ln", width, config.layer_norm_epsilon)?),
            width,
        },
        layers,
        norm_place: NormPlace::After,
        final_norm: None,
        max_positions: Some(config.n_positions),
    };
    Ok((encoder, builder))
}

fn layer(
    config: &Config,
    builder: &Builder,
    index: usize,
    rotary: Arc<Rotary>,
) -> Result<Layer, LocalError> {
    let (width, wide) = (config.n_embd, config.n_inner);
    let name = |part: &str| format!("encoder.layers.{index}.{part}");
    // The second map is the activated one.
    let gated = ["mlp.fc12", "mlp.fc11"].map(name);
    Ok(Layer {
        attention: Attention {
            query_key_value: builder.linear(&name("attn.Wqkv"), width, 3 * width)?,
            output: builder.linear(&name("attn.out_proj"), width, width)?,
            heads: Heads::sharing(width, config.n_head),
            head_norms: None,
            positions: PositionScheme::Rotary(rotary),
            mask: Mask::Full,
        },
        attention_norm: Some(builder.norm(&name("norm1"), width, config.layer_norm_epsilon)?),
        feed_forward: FeedForward {
            up: builder.joined(&gated, width, wide)?,
            down: builder.linear(&name("mlp.fc2"), wide, width)?,
            activation: Activation::Silu,
            gate: Gate::Half,
        },
        feed_forward_norm: builder.norm(&name("norm2"), width, config.layer_norm_epsilon)?,
    })
}
