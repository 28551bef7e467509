//! How attention takes the positions of tokens into account.

mod block;
mod disentangled;
mod relative_keys;
mod rotary;

use std::sync::Arc;

pub(super) use block::Block;
pub(crate) use disentangled::{Buckets, Disentangled};
pub(crate) use relative_keys::{RelativeKeys, SegmentTerms, Waves};
pub(crate) use rotary::Rotary;

use super::linear::Int8Scratch;
use super::matrix::Gemm;
use disentangled::DisentangledScratch;
use relative_keys::RelativeScratch;

/// How attention takes the positions of tokens into account.
#[derive(Debug)]
pub(crate) enum PositionScheme {
    /// Positions are part of the [token embeddings](super::TokenEmbeddings).
    Absolute,
    /// Queries and keys are rotated by their positions.
    Rotary(Arc<Rotary>),
    /// Queries and keys are also multiplied with learned vectors of distances, as in `DeBERTa`.
    Disentangled(Disentangled),
    /// Queries are also multiplied with keys of distances, as in Transformer-XL and `XLNet`.
    Relative(Box<RelativeKeys>),
}

/// Buffers of one thread for scores that depend on positions.
#[derive(Debug, Default)]
pub(super) struct PositionScratch {
    disentangled: DisentangledScratch,
    relative: RelativeScratch,
}

impl PositionScheme {
    /// The factor of scores, so that they do not grow with the number of products that they sum.
    #[expect(clippy::cast_precision_loss, reason = "heads have some hundred values")]
    pub(super) fn scale(&self, head_size: usize) -> f32 {
        let products = match self {
            Self::Disentangled(disentangled) => 1 + disentangled.tables(),
            Self::Absolute | Self::Rotary(_) | Self::Relative(_) => 1,
        };
        ((head_size * products) as f32).sqrt().recip()
    }

    /// Computes what all texts of a batch share. The longest has `longest` tokens.
    pub(super) fn prepare(
        &self,
        longest: usize,
        head_size: usize,
        gemm: &Gemm,
        int8: &mut Int8Scratch,
        scratch: &mut PositionScratch,
    ) {
        if let Self::Relative(relative) = self {
            relative.prepare(longest, head_size, gemm, int8, &mut scratch.relative);
        }
    }

    /// Adds the terms of distances and segments to `scores`, which have one row for each query of `block`.
    pub(super) fn add(
        &self,
        block: &Block<'_>,
        gemm: &Gemm,
        scratch: &mut PositionScratch,
        scores: &mut [f32],
    ) {
        match self {
            Self::Absolute | Self::Rotary(_) => {}
            Self::Disentangled(disentangled) => {
                disentangled.add(block, gemm, &mut scratch.disentangled, scores);
            }
            Self::Relative(relative) => {
                relative.add(block, gemm, &mut scratch.relative, scores);
            }
        }
    }
}
