//! Disentangled attention: learned vectors of distances, as in `DeBERTa`.

use std::ops::Range;
use std::sync::Arc;

use rten_tensor::MatrixLayout;

use super::block::Block;
use crate::encoder::matrix::{Gemm, view};

/// Learned vectors of distances. As keys they are multiplied with queries, as queries with keys.
#[derive(Debug)]
pub(crate) struct Disentangled {
    /// Which row of the tables belongs to a distance.
    pub(crate) buckets: Arc<Buckets>,
    /// Content to position: one row with the values of all heads for each bucket.
    pub(crate) keys: Option<Vec<f32>>,
    /// Position to content, in the same layout.
    pub(crate) queries: Option<Vec<f32>>,
    /// Length of a row of the tables.
    pub(crate) width: usize,
}

/// The rows of a table by distance. Each short distance has a row; long distances share rows, more and more of them.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// From the longest distance of a key before its query to the longest of a key after it. Rows never increase.
    rows: Vec<usize>,
    longest: usize,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(super) struct DisentangledScratch {
    products: Vec<f32>,
}

impl Buckets {
    /// Rows for texts of up to `longest` tokens in tables of `2 * span` rows. Of `buckets`, half are for distances below half their
    /// number, and the others reach up to `farthest`.
    pub(crate) fn new(
        longest: usize,
        span: usize,
        buckets: Option<usize>,
        farthest: usize,
    ) -> Self {
        let last = 2 * span - 1;
        let row = |distance: usize, before: bool| {
            let bucket = buckets.map_or(distance, |buckets| bucket(distance, buckets, farthest));
            if before {
                (span + bucket).min(last)
            } else {
                span.saturating_sub(bucket).min(last)
            }
        };
        let before = (1..longest).rev().map(|distance| row(distance, true));
        let behind = (0..longest).map(|distance| row(distance, false));
        Self {
            rows: before.chain(behind).collect(),
            longest,
        }
    }

    /// The rows for the distances of one query to each of `keys`.
    fn of(&self, query: usize, keys: &Range<usize>) -> &[usize] {
        let first = self.longest - 1 - query + keys.start;
        &self.rows[first..][..keys.len()]
    }

    /// The rows of all distances within `block`.
    fn all(&self, block: &Block<'_>) -> Range<usize> {
        let nearest = self.of(block.queries.start, &block.keys)[block.keys.len() - 1];
        let farthest = self.of(block.queries.end - 1, &block.keys)[0];
        nearest..farthest + 1
    }
}

/// Exact up to half of `buckets`, then logarithmic. It rounds where the reference implementation rounds.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "distances are small and not negative"
)]
fn bucket(distance: usize, buckets: usize, farthest: usize) -> usize {
    let exact = buckets / 2;
    if distance <= exact {
        return distance;
    }
    let ratio = (distance as f32 / exact as f32).ln();
    let whole = ((farthest as f64 - 1.0) / exact as f64) as f32;
    exact + (ratio / whole.ln() * (exact as f32 - 1.0)).ceil() as usize
}

impl Disentangled {
    /// The number of tables.
    pub(super) fn tables(&self) -> usize {
        usize::from(self.keys.is_some()) + usize::from(self.queries.is_some())
    }

    /// Adds the products of contents and distances to `scores`, which have one row for each query of `block`.
    pub(super) fn add(
        &self,
        block: &Block<'_>,
        gemm: &Gemm,
        scratch: &mut DisentangledScratch,
        scores: &mut [f32],
    ) {
        let rows = self.buckets.all(block);
        let head_size = block.query.cols();
        let shape = [rows.len(), head_size];
        let start = rows.start * self.width + block.head * head_size;
        if let Some(keys) = &self.keys {
            let keys = view(&keys[start..], [shape[1], shape[0]], [1, self.width]);
            gemm.product(block.query, keys, block.scale, &mut scratch.products);
            self.add_keys(block, &rows, &scratch.products, scores);
        }
        if let Some(queries) = &self.queries {
            let queries = view(&queries[start..], shape, [self.width, 1]);
            gemm.product(queries, block.key, block.scale, &mut scratch.products);
            self.add_queries(block, &rows, &scratch.products, scores);
        }
    }

    /// `products` has one row for each query and one column for each of `rows`.
    fn add_keys(
        &self,
        block: &Block<'_>,
        rows: &Range<usize>,
        products: &[f32],
        scores: &mut [f32],
    ) {
        let products = products.chunks_exact(rows.len());
        let scores = scores.chunks_exact_mut(block.keys.len());
        for ((query, products), scores) in block.queries.clone().zip(products).zip(scores) {
            let found = self.buckets.of(query, &block.keys);
            for (score, row) in scores.iter_mut().zip(found) {
                *score += products[row - rows.start];
            }
        }
    }

    /// `products` has one row for each of `rows` and one column for each key.
    fn add_queries(
        &self,
        block: &Block<'_>,
        rows: &Range<usize>,
        products: &[f32],
        scores: &mut [f32],
    ) {
        let keys = block.keys.len();
        let scores = scores.chunks_exact_mut(keys);
        for (query, scores) in block.queries.clone().zip(scores) {
            let found = self.buckets.of(query, &block.keys);
            for (key, (score, row)) in scores.iter_mut().zip(found).enumerate() {
                *score += products[(row - rows.start) * keys + key];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first distance of each bucket after the exact ones, by `make_log_bucket_position` of transformers 5.23 with 256
    /// buckets for 512 positions, which is how `DeBERTa` v3 was published.
    const PUBLISHED: [usize; 127] = [
        129, 130, 131, 133, 134, 136, 137, 139, 140, 142, 143, 145, 146, 148, 150, 151, 153, 155,
        156, 158, 160, 161, 163, 165, 167, 169, 170, 172, 174, 176, 178, 180, 182, 184, 186, 188,
        190, 192, 194, 196, 198, 201, 203, 205, 207, 210, 212, 214, 216, 219, 221, 224, 226, 229,
        231, 234, 236, 239, 241, 244, 247, 249, 252, 255, 258, 260, 263, 266, 269, 272, 275, 278,
        281, 284, 287, 290, 294, 297, 300, 303, 307, 310, 313, 317, 320, 324, 327, 331, 335, 338,
        342, 346, 349, 353, 357, 361, 365, 369, 373, 377, 381, 385, 390, 394, 398, 403, 407, 411,
        416, 420, 425, 430, 434, 439, 444, 449, 454, 459, 464, 469, 474, 479, 484, 490, 495, 500,
        506,
    ];

    /// The same with 32 buckets for 128 positions.
    const FEWER: [usize; 15] = [17, 19, 22, 25, 28, 32, 37, 43, 49, 56, 64, 74, 84, 97, 111];

    #[test]
    fn distances_fall_into_the_buckets_of_the_reference() {
        for (buckets, positions, firsts) in [(256, 512, &PUBLISHED[..]), (32, 128, &FEWER[..])] {
            for distance in 0..positions {
                let coarse = firsts.iter().filter(|first| **first <= distance).count();
                let expected = distance.min(buckets / 2) + coarse;
                let found = bucket(distance, buckets, positions);
                assert_eq!(found, expected, "{distance} of {positions}");
            }
        }
    }

    #[test]
    fn rows_are_on_both_sides_of_the_middle_and_stay_within_the_table() {
        // Distances to 2 are exact, those from 3 to 7 share a bucket, and for 8 there is a row on one side only.
        let buckets = Buckets::new(9, 4, Some(4), 8);
        assert_eq!(buckets.of(0, &(0..9)), [4, 3, 2, 1, 1, 1, 1, 1, 0]);
        assert_eq!(buckets.of(8, &(0..9)), [7, 7, 7, 7, 7, 7, 6, 5, 4]);
        assert_eq!(buckets.of(4, &(3..6)), [5, 4, 3]);
        // One row for each distance, and the last rows for all that are longer.
        let exact = Buckets::new(5, 3, None, 3);
        assert_eq!(exact.of(2, &(0..5)), [5, 4, 3, 2, 1]);
        assert_eq!(exact.of(4, &(0..5)), [5, 5, 5, 4, 3]);
        assert_eq!(exact.of(0, &(0..5)), [3, 2, 1, 0, 0]);
    }
}
