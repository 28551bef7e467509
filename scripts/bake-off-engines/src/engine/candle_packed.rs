//! candle's tensors and matrix products without padding: the texts of a batch one after another.

use std::path::Path;

use anyhow::Result;
use candle_core::{D, Device, IndexOp, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{Embedding, LayerNorm, Linear, Module, VarBuilder, embedding, layer_norm, linear};
use candle_transformers::models::bert::Config;

use super::candle::read;
use crate::batch::{Batch, Engine};

/// BERT in the tensors of candle, over the tokens of a batch's texts one after another: nothing is computed for padding.
pub(crate) struct CandlePacked {
    words: Embedding,
    /// With the type of the only segment that a text has.
    positions: Embedding,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl CandlePacked {
    pub(crate) fn open(model: &Path) -> Result<Self> {
        let (config, weights) = read(model)?;
        let tables = weights.pp("embeddings");
        let table = |name, rows| embedding(rows, config.hidden_size, tables.pp(name));
        let types = table("token_type_embeddings", config.type_vocab_size)?;
        let positions = table("position_embeddings", config.max_position_embeddings)?;
        let positions = positions
            .embeddings()
            .broadcast_add(&types.embeddings().i(0)?)?;
        let layer = |number| Layer::open(&weights.pp("encoder.layer").pp(number), &config);
        Ok(Self {
            words: table("word_embeddings", config.vocab_size)?,
            positions: Embedding::new(positions, config.hidden_size),
            norm: norm(&tables, &config)?,
            layers: (0..config.num_hidden_layers)
                .map(layer)
                .collect::<Result<_>>()?,
        })
    }

    /// The last states of texts of these lengths, whose tokens are one after another.
    fn forward(&self, ids: &[u32], lengths: &[u32]) -> Result<Tensor> {
        let positions: Vec<u32> = lengths.iter().flat_map(|&length| 0..length).collect();
        let words = self.words.forward(&Tensor::new(ids, &Device::Cpu)?)?;
        let positions = Tensor::new(positions, &Device::Cpu)?;
        let states = (words + self.positions.forward(&positions)?)?;
        let states = self.norm.forward(&states)?;
        self.layers
            .iter()
            .try_fold(states, |states, layer| layer.forward(&states, lengths))
    }
}

impl Engine for CandlePacked {
    fn states(&mut self, batch: &Batch) -> Result<Vec<f32>> {
        let tokens = batch.ids.iter().zip(&batch.mask);
        let ids: Vec<u32> = tokens
            .filter(|&(_, &mask)| mask == 1)
            .map(|(&id, _)| id)
            .collect();
        let lengths: Vec<u32> = batch
            .mask
            .chunks(batch.length)
            .map(|mask| mask.iter().sum())
            .collect();
        let states = self.forward(&ids, &lengths)?;
        let width = states.dim(D::Minus1)?;
        Ok(padded(&states.flatten_all()?.to_vec1()?, width, batch))
    }
}

/// States with zeros where the batch has padding: pooling is shared with the engines that compute it.
fn padded(states: &[f32], width: usize, batch: &Batch) -> Vec<f32> {
    let mut padded = vec![0.0; batch.mask.len() * width];
    let rows = padded.chunks_mut(width).zip(&batch.mask);
    let tokens = rows.filter(|&(_, &mask)| mask == 1);
    for ((row, _), state) in tokens.zip(states.chunks(width)) {
        row.copy_from_slice(state);
    }
    padded
}

struct Layer {
    /// Queries, keys and values in one product.
    projection: Linear,
    heads: usize,
    attended: Linear,
    attended_norm: LayerNorm,
    intermediate: Linear,
    output: Linear,
    output_norm: LayerNorm,
}

impl Layer {
    fn open(weights: &VarBuilder, config: &Config) -> Result<Self> {
        let (width, inner) = (config.hidden_size, config.intermediate_size);
        let attended = weights.pp("attention.output");
        Ok(Self {
            projection: projection(&weights.pp("attention.self"), config)?,
            heads: config.num_attention_heads,
            attended: linear(width, width, attended.pp("dense"))?,
            attended_norm: norm(&attended, config)?,
            intermediate: linear(width, inner, weights.pp("intermediate.dense"))?,
            output: linear(inner, width, weights.pp("output.dense"))?,
            output_norm: norm(&weights.pp("output"), config)?,
        })
    }

    fn forward(&self, states: &Tensor, lengths: &[u32]) -> Result<Tensor> {
        let attended = self.attended.forward(&self.attend(states, lengths)?)?;
        let states = self.attended_norm.forward(&(attended + states)?)?;
        let inner = self.intermediate.forward(&states)?.gelu_erf()?;
        let output = self.output.forward(&inner)?;
        Ok(self.output_norm.forward(&(output + states)?)?)
    }

    /// Each text attends to its own tokens.
    fn attend(&self, states: &Tensor, lengths: &[u32]) -> Result<Tensor> {
        let (tokens, width) = states.dims2()?;
        // Queries, keys and values by head, then by token.
        let projected = self
            .projection
            .forward(states)?
            .reshape((tokens, 3, self.heads, width / self.heads))?
            .permute((1, 2, 0, 3))?;
        let mut start = 0;
        let mut attended = Vec::with_capacity(lengths.len());
        for &length in lengths {
            let length = length as usize;
            let text = projected.narrow(2, start, length)?;
            let scores = text.i(0)?.matmul(&text.i(1)?.t()?)?;
            let context = softmax_last_dim(&scores)?.matmul(&text.i(2)?)?;
            attended.push(context.transpose(0, 1)?.reshape((length, width))?);
            start += length;
        }
        Ok(Tensor::cat(&attended, 0)?)
    }
}

/// Queries are scaled here, once, instead of scores in each batch.
fn projection(weights: &VarBuilder, config: &Config) -> Result<Linear> {
    let width = config.hidden_size;
    let scale = f64::from(u32::try_from(width / config.num_attention_heads)?).powf(-0.5);
    let part = |name, scale: f64| {
        let weights = weights.pp(name);
        let matrix = (weights.get((width, width), "weight")? * scale)?;
        Ok::<_, anyhow::Error>((matrix, (weights.get(width, "bias")? * scale)?))
    };
    let parts = [
        part("query", scale)?,
        part("key", 1.0)?,
        part("value", 1.0)?,
    ];
    let matrix = Tensor::cat(&parts.each_ref().map(|(matrix, _)| matrix), 0)?;
    let bias = Tensor::cat(&parts.each_ref().map(|(_, bias)| bias), 0)?;
    Ok(Linear::new(matrix, Some(bias)))
}

fn norm(weights: &VarBuilder, config: &Config) -> Result<LayerNorm> {
    let weights = weights.pp("LayerNorm");
    Ok(layer_norm(
        config.hidden_size,
        config.layer_norm_eps,
        weights,
    )?)
}
