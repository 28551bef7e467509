//! The transformer, which turns tokens into vectors. Texts are packed one after another: no padding is ever computed.

mod activation;
mod attention;
mod feed_forward;
mod heads;
mod int8;
mod linear;
mod mask;
mod matrix;
mod norm;
mod relative_keys;
mod rotary;
mod token_embeddings;

pub(crate) use activation::Activation;
use attention::AttentionScratch;
pub(crate) use attention::{Attention, PositionScheme};
pub(crate) use feed_forward::{FeedForward, Gate};
pub(crate) use heads::{HeadNorms, Heads};
pub(crate) use linear::{Linear, Parameters};
pub(crate) use mask::Mask;
pub(crate) use matrix::Kernels;
pub(crate) use norm::{Norm, NormKind};
pub(crate) use relative_keys::{RelativeKeys, SegmentTerms, Waves};
pub(crate) use rotary::Rotary;
pub(crate) use token_embeddings::{Positions, TokenEmbeddings};

use crate::tokenizer::Encoded;

/// Whether a product replaces the output or is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Write {
    Replace,
    Add,
}

/// Where a layer normalises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NormPlace {
    /// Before each half of the layer. The sum of input and output is not normalised.
    Before,
    /// After each half of the layer: the sum of input and output is normalised.
    After,
}

/// One layer: attention, then two linear maps. The output of each half is added to its input.
#[derive(Debug)]
pub(crate) struct Layer {
    pub(crate) attention: Attention,
    /// `None` if the input is already normalised.
    pub(crate) attention_norm: Option<Norm>,
    pub(crate) feed_forward: FeedForward,
    pub(crate) feed_forward_norm: Norm,
}

/// A transformer encoder of one of the supported families.
#[derive(Debug)]
pub(crate) struct Encoder {
    pub(crate) embeddings: TokenEmbeddings,
    pub(crate) layers: Vec<Layer>,
    pub(crate) norm_place: NormPlace,
    pub(crate) final_norm: Option<Norm>,
    /// How many tokens the model has positions for, special tokens included. `None` means any number.
    pub(crate) max_positions: Option<usize>,
}

/// The kernels and buffers of one thread, which it keeps from batch to batch.
#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) kernels: Kernels,
    normalized: Vec<f32>,
    between: Vec<f32>,
    attention: AttentionScratch,
}

impl Encoder {
    /// Length of the vector of a token.
    pub(crate) fn width(&self) -> usize {
        self.embeddings.width
    }

    /// The number of tokens in the vocabulary.
    pub(crate) fn vocabulary(&self) -> usize {
        self.embeddings.words.len() / self.embeddings.width
    }

    /// One row for each token of each text, in order. The rows of a text do not depend on the other texts.
    pub(crate) fn encode(&self, texts: &[&Encoded], scratch: &mut Scratch) -> Vec<f32> {
        let mut hidden = self.embeddings.look_up(texts);
        for layer in &self.layers {
            layer.apply(&mut hidden, texts, self.norm_place, scratch);
        }
        if let Some(norm) = &self.final_norm {
            norm.apply(&mut hidden);
        }
        hidden
    }
}

impl Layer {
    fn apply(
        &self,
        hidden: &mut [f32],
        texts: &[&Encoded],
        place: NormPlace,
        scratch: &mut Scratch,
    ) {
        let Scratch {
            kernels,
            normalized,
            between,
            attention,
        } = scratch;
        copy(hidden, normalized);
        if let (NormPlace::Before, Some(norm)) = (place, &self.attention_norm) {
            norm.apply(normalized);
        }
        self.attention
            .add(normalized, hidden, texts, kernels, attention);
        if let (NormPlace::After, Some(norm)) = (place, &self.attention_norm) {
            norm.apply(hidden);
        }
        copy(hidden, normalized);
        if place == NormPlace::Before {
            self.feed_forward_norm.apply(normalized);
        }
        self.feed_forward.add(normalized, hidden, kernels, between);
        if place == NormPlace::After {
            self.feed_forward_norm.apply(hidden);
        }
    }
}

fn copy(from: &[f32], to: &mut Vec<f32>) {
    to.clear();
    to.extend_from_slice(from);
}
