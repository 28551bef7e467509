//! `XLNet`: the content stream of a permutation language model, with the relative positions of Transformer-XL. There is no memory of
//! earlier texts.

use std::sync::Arc;

use serde::Deserialize;

use super::builder::Builder;
use super::config::{CONFIG, Sizes, activation, gelu};
use crate::encoder::{
    Activation, Attention, Encoder, FeedForward, Gate, Layer, Mask, NormPlace, Parameters,
    PositionScheme, RelativeKeys, SegmentTerms, Waves,
};
use crate::error::LocalError;
use crate::folder::Folder;

/// The table of token embeddings, by which the prefix of a checkpoint is found.
pub(super) const TOKENS: &str = "word_embedding.weight";

/// What no published model has otherwise. `same_length` and `mem_len` have no effect on bidirectional attention without earlier
/// texts.
const PERMITTED: [(&str, &[&str]); 2] = [("attn_type", &["bi"]), ("bi_data", &["false"])];

#[derive(Debug, Deserialize)]
struct XlnetConfig {
    #[serde(default = "gelu")]
    ff_activation: String,
    #[serde(default = "epsilon")]
    layer_norm_eps: f32,
    /// 0 or less means that distances are not clamped.
    #[serde(default)]
    clamp_len: i64,
}

fn epsilon() -> f32 {
    1e-12
}

pub(super) fn encoder(
    folder: &Folder,
    sizes: &Sizes,
    builder: &Builder,
) -> Result<Encoder, LocalError> {
    folder.permit(CONFIG, &PERMITTED)?;
    let config: XlnetConfig = folder.required(CONFIG)?;
    let activation = activation(folder, "ff_activation", &config.ff_activation)?;
    let farthest = usize::try_from(config.clamp_len).ok();
    let farthest = farthest.filter(|length| *length > 0);
    let waves = Arc::new(Waves::new(sizes.width, farthest));
    let layers = (0..sizes.layers).map(|index| {
        let tensors = AttentionTensors {
            sizes,
            builder,
            index,
        };
        let attention = tensors.attention(Arc::clone(&waves))?;
        layer(tensors, attention, activation, config.layer_norm_eps)
    });
    Ok(Encoder {
        layers: layers.collect::<Result<_, _>>()?,
        embeddings: builder.words(TOKENS, sizes.width)?,
        norm_place: NormPlace::After,
        final_norm: None,
        max_positions: None,
    })
}

fn layer(
    tensors: AttentionTensors<'_>,
    attention: Attention,
    activation: Activation,
    epsilon: f32,
) -> Result<Layer, LocalError> {
    let AttentionTensors {
        sizes,
        builder,
        index,
    } = tensors;
    let (width, wide) = (sizes.width, sizes.wide);
    let name = |part: &str| format!("layer.{index}.{part}");
    let norm = |part: &str| builder.norm(&name(part), width, epsilon);
    Ok(Layer {
        attention,
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
#[derive(Clone, Copy)]
struct AttentionTensors<'model> {
    sizes: &'model Sizes,
    builder: &'model Builder,
    index: usize,
}

impl AttentionTensors<'_> {
    fn attention(self, waves: Arc<Waves>) -> Result<Attention, LocalError> {
        let width = self.sizes.width;
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
            heads: self.sizes.even_heads(),
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
        let (same, other) = both.split_at(self.sizes.width);
        let key: Vec<f32> = other.iter().zip(same).map(|(a, b)| a - b).collect();
        let head_size = self.sizes.head_size;
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
        let heads = [self.sizes.heads, self.sizes.head_size];
        let shape = [rows, &heads].concat();
        self.builder.weights.tensor(&name, &shape)
    }

    /// The weights of a map to all heads. The checkpoint keeps one row for each input.
    fn transposed(self, part: &str) -> Result<Vec<f32>, LocalError> {
        let width = self.sizes.width;
        let weights = self.by_head(part, &[width])?;
        let columns = (0..width).map(|output| weights[output..].iter().step_by(width).copied());
        Ok(columns.flatten().collect())
    }

    fn square(self, weights: Vec<f32>) -> Parameters {
        Parameters {
            weights,
            bias: None,
            inputs: self.sizes.width,
            outputs: self.sizes.width,
        }
    }
}
