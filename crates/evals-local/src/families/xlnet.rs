//! `XLNet`: the content stream of a permutation language model, with the relative positions of Transformer-XL. There is no memory of
//! earlier texts.

use std::sync::Arc;

use serde::Deserialize;

use super::builder::Builder;
use super::config::{CONFIG, activation, gelu};
use crate::encoder::{
    Activation, Attention, Encoder, FeedForward, Gate, Heads, Layer, Mask, NormPlace, Parameters,
    PositionScheme, RelativeKeys, SegmentTerms, TokenEmbeddings, Waves,
};
use crate::error::LocalError;
use crate::folder::Folder;

/// The table of token embeddings, by which the prefix of a checkpoint is found.
pub(super) const TOKENS: &str = "word_embedding.weight";

#[derive(Debug, Deserialize)]
struct Config {
    #[serde(alias = "hidden_size")]
    d_model: usize,
    #[serde(alias = "num_hidden_layers")]
    n_layer: usize,
    #[serde(alias = "num_attention_heads")]
    n_head: usize,
    d_inner: usize,
    d_head: Option<usize>,
    #[serde(default = "gelu")]
    ff_activation: String,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    #[serde(default = "bidirectional")]
    attn_type: String,
    #[serde(default)]
    bi_data: bool,
    /// 0 or less means that distances are not clamped.
    #[serde(default)]
    clamp_len: i64,
}

fn epsilon() -> f32 {
    1e-12
}

fn bidirectional() -> String {
    "bi".to_owned()
}

impl Config {
    /// Refuses variants that no published model uses. `same_length` and `mem_len` have no effect on bidirectional attention without
    /// earlier texts.
    fn check(&self, folder: &Folder) -> Result<(), LocalError> {
        let refused = |key, value: String| Err(folder.unsupported(CONFIG, key, value));
        if self.attn_type != "bi" {
            return refused("attn_type", self.attn_type.clone());
        }
        if self.bi_data {
            return refused("bi_data", "true".to_owned());
        }
        match self.d_head {
            Some(size) if size * self.n_head != self.d_model => refused("d_head", size.to_string()),
            _ => Ok(()),
        }
    }

    fn head_size(&self) -> usize {
        self.d_model / self.n_head
    }
}

pub(super) fn encoder(folder: &Folder, builder: Builder) -> Result<(Encoder, Builder), LocalError> {
    let config: Config = folder.required(CONFIG)?;
    config.check(folder)?;
    let activation = activation(folder, "ff_activation", &config.ff_activation)?;
    let width = config.d_model;
    let farthest = usize::try_from(config.clamp_len).ok();
    let waves = Arc::new(Waves::new(width, farthest.filter(|length| *length > 0)));
    let layers = (0..config.n_layer)
        .map(|index| layer(&config, activation, &builder, index, Arc::clone(&waves)))
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
        norm_place: NormPlace::After,
        final_norm: None,
        max_positions: None,
    };
    Ok((encoder, builder))
}

fn layer(
    config: &Config,
    activation: Activation,
    builder: &Builder,
    index: usize,
    waves: Arc<Waves>,
) -> Result<Layer, LocalError> {
    let (width, wide) = (config.d_model, config.d_inner);
    let name = |part: &str| format!("layer.{index}.{part}");
    let norm = |part: &str| builder.norm(&name(part), width, config.layer_norm_eps);
    let tensors = AttentionTensors {
        config,
        builder,
        index,
    };
    Ok(Layer {
        attention: tensors.attention(waves)?,
        attention_norm: Some(norm("rel_attn.layer_norm")?),
        feed_forward: FeedForward {
            up: builder.linear(&name("ff.layer_1"), width, wide)?,
            down: builder.linear(&name("ff.layer_2"), wide, width)?,
            activation,
            gate: Gate::None,
        },
        feed_forward_norm: norm("ff.layer_norm")?,
    })
}

/// The attention tensors of one layer. The checkpoint keeps them by head, not as linear maps.
#[derive(Clone, Copy, Debug)]
struct AttentionTensors<'model> {
    config: &'model Config,
    builder: &'model Builder,
    index: usize,
}

impl AttentionTensors<'_> {
    fn attention(self, waves: Arc<Waves>) -> Result<Attention, LocalError> {
        let width = self.config.d_model;
        // The bias for contents is part of the map to queries. The other biases are relative to it.
        let content_bias = self.by_head("r_w_bias", &[])?;
        let beyond = |bias: Vec<f32>| -> Vec<f32> {
            let pairs = bias.iter().zip(&content_bias);
            pairs.map(|(bias, content)| bias - content).collect()
        };
        let query_bias = beyond(self.by_head("r_r_bias", &[])?);
        let segments = self.segments(&beyond(self.by_head("r_s_bias", &[])?))?;
        let mut weights = self.transposed("q")?;
        weights.extend(self.transposed("k")?);
        weights.extend(self.transposed("v")?);
        let mut bias = content_bias;
        bias.resize(3 * width, 0.0);
        Ok(Attention {
            query_key_value: self.builder.pack(Parameters {
                weights,
                bias: Some(bias),
                inputs: width,
                outputs: 3 * width,
            }),
            output: self.builder.pack(self.square(self.by_head("o", &[width])?)),
            heads: Heads::sharing(width, self.config.n_head),
            head_norms: None,
            positions: PositionScheme::Relative(Box::new(RelativeKeys {
                waves,
                keys: self.builder.pack(self.square(self.transposed("r")?)),
                query_bias,
                segments,
            })),
            mask: Mask::Full,
        })
    }

    /// The term of the same segment is subtracted from both terms. Adding a constant to all scores of a query does not change its
    /// weights.
    fn segments(self, bias: &[f32]) -> Result<SegmentTerms, LocalError> {
        let both = self.by_head("seg_embed", &[2])?;
        let (same, other) = both.split_at(self.config.d_model);
        let key: Vec<f32> = other.iter().zip(same).map(|(a, b)| a - b).collect();
        let head_size = self.config.head_size();
        let heads = key
            .chunks_exact(head_size)
            .zip(bias.chunks_exact(head_size));
        let constants = heads
            .map(|(key, bias)| key.iter().zip(bias).map(|(a, b)| a * b).sum())
            .collect();
        Ok(SegmentTerms { key, constants })
    }

    /// A tensor with the values of all heads, for each of `rows` if it has any.
    fn by_head(self, part: &str, rows: &[usize]) -> Result<Vec<f32>, LocalError> {
        let name = format!("layer.{}.rel_attn.{part}", self.index);
        let heads = [self.config.n_head, self.config.head_size()];
        let shape = [rows, &heads].concat();
        self.builder.weights.tensor(&name, &shape)
    }

    /// The weights of a map to all heads. The checkpoint keeps one row for each input.
    fn transposed(self, part: &str) -> Result<Vec<f32>, LocalError> {
        let width = self.config.d_model;
        let weights = self.by_head(part, &[width])?;
        let columns = (0..width).map(|output| weights[output..].iter().step_by(width).copied());
        Ok(columns.flatten().collect())
    }

    fn square(self, weights: Vec<f32>) -> Parameters {
        Parameters {
            weights,
            bias: None,
            inputs: self.config.d_model,
            outputs: self.config.d_model,
        }
    }
}
