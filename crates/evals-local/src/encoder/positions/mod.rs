//! How attention knows where tokens are.

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

/// How attention knows where tokens are.
#[derive(Debug)]
pub(crate) enum PositionScheme {
    /// From the vectors that tokens start with.
    Absolute,
    /// Queries and keys are turned by their positions.
    Rotary(Arc<Rotary>),
    /// Contents meet learned vectors of distances, as in `DeBERTa`.
    Disentangled(Disentangled),
    /// Queries meet distances as further keys, as in Transformer-XL and `XLNet`.
    Relative(Box<RelativeKeys>),
}

/// Buffers of one thread for scores that depend on positions.
#[derive(Debug, Default)]
pub(super) struct PositionScratch {
    disentangled: DisentangledScratch,
    relative: RelativeScratch,
}

impl PositionScheme {
    /// What scores are multiplied with, so that they do not grow with the number of products they are the sum of.
    #[expect(clippy::cast_precision_loss, reason = "heads have some hundred values")]
    pub(super) fn scale(&self, head_size: usize) -> f32 {
        let products = match self {
            Self::Disentangled(disentangled) => 1 + disentangled.tables(),
            Self::Absolute | Self::Rotary(_) | Self::Relative(_) => 1,
        };
        ((head_size * products) as f32).sqrt().recip()
    }

    /// Computes what all texts of a batch share, the longest of which has `longest` tokens.
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

    /// Adds to `scores`, one row for each query of `block`, what they owe to distances and segments.
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
