//! Relative keys: sinusoids of distances, as in Transformer-XL and `XLNet`.

use std::ops::Range;
use std::sync::Arc;

use rten_tensor::{Matrix, MatrixLayout};

use super::Write;
use super::linear::Linear;
use super::matrix::{Kernels, view};

/// Keys of distances: sinusoids after a linear map. Queries have another bias for them than for contents. A last term depends on
/// whether query and key are in the same segment.
#[derive(Debug)]
pub(crate) struct RelativeKeys {
    pub(crate) waves: Arc<Waves>,
    /// Maps the sinusoids of a distance to its key, for all heads.
    pub(crate) keys: Linear,
    /// The bias of queries for distances less their bias for contents, for all heads.
    pub(crate) query_bias: Vec<f32>,
    pub(crate) segments: SegmentTerms,
}

/// The term of scores whose query and key are in different segments.
#[derive(Debug)]
pub(crate) struct SegmentTerms {
    /// Multiplied with the query, for all heads.
    pub(crate) key: Vec<f32>,
    /// Added to that product, one for each head.
    pub(crate) constants: Vec<f32>,
}

/// Sinusoids of distances.
#[derive(Debug)]
pub(crate) struct Waves {
    frequencies: Vec<f32>,
    /// Longer distances count as this one.
    farthest: Option<usize>,
}

/// Some queries of one head and the keys they are scored against, by their positions in the text.
pub(super) struct Block<'text> {
    pub(super) head: usize,
    pub(super) queries: Range<usize>,
    pub(super) keys: Range<usize>,
    /// One row for each query.
    pub(super) query: Matrix<'text>,
    /// The segments of all tokens of the text.
    pub(super) segments: &'text [u32],
    /// The factor of every product of a query and a key.
    pub(super) scale: f32,
}

/// Buffers of one thread, which runs one model.
#[derive(Debug, Default)]
pub(super) struct RelativeScratch {
    /// For distances from `reach` - 1 to 1 - `reach`.
    waves: Vec<f32>,
    reach: usize,
    /// For distances from `longest` - 1 to 1 - `longest`.
    keys: Vec<f32>,
    /// The product of each head's bias with each of `keys`, head after head.
    constants: Vec<f32>,
    longest: usize,
    met: Vec<f32>,
}

impl Waves {
    /// Sinusoids of `width` values, sines before cosines.
    #[expect(
        clippy::cast_precision_loss,
        reason = "vectors have some thousand values"
    )]
    pub(crate) fn new(width: usize, farthest: Option<usize>) -> Self {
        let frequencies = (0..width)
            .step_by(2)
            .map(|index| 10_000_f32.powf(index as f32 / width as f32).recip())
            .collect();
        Self {
            frequencies,
            farthest,
        }
    }

    /// One row for each distance, from `reach` - 1 (the key is that far before the query) to 1 - `reach`.
    #[expect(clippy::cast_precision_loss, reason = "distances are small")]
    fn fill(&self, reach: usize, rows: &mut Vec<f32>) {
        let farthest = self.farthest.unwrap_or(usize::MAX);
        let wave = |distance: usize| distance.min(farthest) as f32;
        let before = (1..reach).rev().map(wave);
        let behind = (0..reach).map(|distance| -wave(distance));
        rows.clear();
        rows.reserve(4 * reach * self.frequencies.len());
        for distance in before.chain(behind) {
            let angles = self
                .frequencies
                .iter()
                .map(|frequency| distance * frequency);
            rows.extend(angles.clone().map(f32::sin));
            rows.extend(angles.map(f32::cos));
        }
    }
}

impl RelativeKeys {
    /// Computes the keys of all distances in texts of up to `longest` tokens.
    pub(super) fn prepare(
        &self,
        longest: usize,
        head_size: usize,
        kernels: &mut Kernels,
        scratch: &mut RelativeScratch,
    ) {
        if scratch.reach < longest {
            self.waves.fill(longest, &mut scratch.waves);
            scratch.reach = longest;
        }
        let width = self.query_bias.len();
        let distances = (2 * longest).saturating_sub(1);
        let waves = &scratch.waves[(scratch.reach - longest) * width..][..distances * width];
        scratch.longest = longest;
        scratch.keys.resize(distances * width, 0.0);
        self.keys
            .apply(waves, &mut scratch.keys, Write::Replace, kernels);
        scratch.constants.clear();
        for (head, bias) in self.query_bias.chunks_exact(head_size).enumerate() {
            let keys = scratch.keys.chunks_exact(width);
            let constants = keys.map(|key| dot(bias, &key[head * head_size..]));
            scratch.constants.extend(constants);
        }
    }

    /// Adds the terms of distances and segments to `scores`, which have one row for each query of `block`.
    pub(super) fn add(
        &self,
        block: &Block<'_>,
        kernels: &Kernels,
        scratch: &mut RelativeScratch,
        scores: &mut [f32],
    ) {
        let RelativeScratch {
            keys,
            constants,
            longest,
            met,
            ..
        } = scratch;
        // The longest distance is that of the first key to the last query.
        let first = *longest + block.keys.start - block.queries.end;
        let count = block.queries.len() + block.keys.len() - 1;
        let (width, head_size) = (self.query_bias.len(), block.query.cols());
        let start = block.head * head_size;
        let distances = view(
            &keys[first * width + start..],
            [head_size, count],
            [1, width],
        );
        kernels.product(block.query, distances, block.scale, met);
        let constants = &constants[block.head * (2 * *longest - 1) + first..][..count];
        let rows = scores.chunks_exact_mut(block.keys.len()).rev();
        for (place, (scores, met)) in rows.zip(met.chunks_exact(count).rev()).enumerate() {
            let terms = met[place..].iter().zip(&constants[place..]);
            for (score, (product, constant)) in scores.iter_mut().zip(terms) {
                *score += product + constant * block.scale;
            }
        }
        self.add_segments(block, kernels, met, scores);
    }

    fn add_segments(
        &self,
        block: &Block<'_>,
        kernels: &Kernels,
        met: &mut Vec<f32>,
        scores: &mut [f32],
    ) {
        let head_size = block.query.cols();
        let key = &self.segments.key[block.head * head_size..];
        let key = view(key, [head_size, 1], [1, 1]);
        kernels.product(block.query, key, block.scale, met);
        let constant = self.segments.constants[block.head] * block.scale;
        let keys = &block.segments[block.keys.clone()];
        let queries = &block.segments[block.queries.clone()];
        let rows = scores.chunks_exact_mut(keys.len());
        for ((scores, product), query) in rows.zip(met).zip(queries) {
            for (score, key) in scores.iter_mut().zip(keys) {
                if key != query {
                    *score += *product + constant;
                }
            }
        }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
