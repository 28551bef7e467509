//! The transformer that turns tokens into one vector for each, over packed texts: no padding is ever computed.

mod activation;
mod attention;
mod disentangled;
mod feed_forward;
mod heads;
mod int8;
mod linear;
mod mask;
mod matrix;
mod norm;
mod position_scheme;
mod relative_keys;
mod rotary;
mod token_embeddings;

pub(in crate::local) use activation::Activation;
pub(in crate::local) use attention::Attention;
use attention::AttentionScratch;
pub(in crate::local) use disentangled::{Buckets, Disentangled};
pub(in crate::local) use feed_forward::{FeedForward, Gate};
pub(in crate::local) use heads::{HeadNorms, Heads};
pub(in crate::local) use linear::{Int8Scratch, Linear, Parameters, Write};
pub(in crate::local) use mask::Mask;
pub(in crate::local) use matrix::Gemm;
pub(in crate::local) use norm::{Norm, NormKind};
pub(in crate::local) use position_scheme::PositionScheme;
pub(in crate::local) use relative_keys::{RelativeKeys, SegmentTerms, Waves};
pub(in crate::local) use rotary::Rotary;
pub(in crate::local) use token_embeddings::{Positions, TokenEmbeddings};

use super::tokens::Encoded;

/// Where a layer normalises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::local) enum NormPlace {
    /// The input of each half of the layer; the sums go on as they are.
    Before,
    /// The sum of each half's input and output.
    After,
}

/// One layer: attention, then two linear maps, each added to its input.
#[derive(Debug)]
pub(in crate::local) struct Layer {
    pub(in crate::local) attention: Attention,
    /// `None`: what comes from below is normalised already.
    pub(in crate::local) attention_norm: Option<Norm>,
    pub(in crate::local) feed_forward: FeedForward,
    pub(in crate::local) feed_forward_norm: Norm,
}

/// A transformer encoder of one of the supported families.
#[derive(Debug)]
pub(in crate::local) struct Encoder {
    pub(in crate::local) embeddings: TokenEmbeddings,
    pub(in crate::local) layers: Vec<Layer>,
    pub(in crate::local) norm_place: NormPlace,
    pub(in crate::local) final_norm: Option<Norm>,
    /// Tokens for which the model has positions, special ones included. `None`: any number.
    pub(in crate::local) max_positions: Option<usize>,
}

/// What one thread computes with: kernels, and buffers kept from batch to batch.
#[derive(Debug, Default)]
pub(in crate::local) struct Scratch {
    pub(in crate::local) gemm: Gemm,
    normalized: Vec<f32>,
    between: Vec<f32>,
    attention: AttentionScratch,
    pub(in crate::local) int8: Int8Scratch,
}

impl Encoder {
    /// Length of each token's vector.
    pub(in crate::local) fn width(&self) -> usize {
        self.embeddings.width
    }

    /// Tokens that the model has vectors for.
    pub(in crate::local) fn vocabulary(&self) -> usize {
        self.embeddings.words.len() / self.embeddings.width
    }

    /// One row for each token of each text, in order. Nothing a text gives depends on the other texts.
    pub(in crate::local) fn encode(&self, texts: &[&Encoded], scratch: &mut Scratch) -> Vec<f32> {
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
            gemm,
            normalized,
            between,
            attention,
            int8,
        } = scratch;
        copy(hidden, normalized);
        if let (NormPlace::Before, Some(norm)) = (place, &self.attention_norm) {
            norm.apply(normalized);
        }
        self.attention
            .add(normalized, hidden, texts, gemm, attention, int8);
        if let (NormPlace::After, Some(norm)) = (place, &self.attention_norm) {
            norm.apply(hidden);
        }
        copy(hidden, normalized);
        if place == NormPlace::Before {
            self.feed_forward_norm.apply(normalized);
        }
        self.feed_forward
            .add(normalized, hidden, gemm, between, int8);
        if place == NormPlace::After {
            self.feed_forward_norm.apply(hidden);
        }
    }
}

fn copy(from: &[f32], to: &mut Vec<f32>) {
    to.clear();
    to.extend_from_slice(from);
}
