//! `MaxSim`, the score of late interaction.

use crate::encoder::{Linear, Parameters, Scratch};
use crate::vectors::normalize;

/// The vectors of a query's tokens, ready to be compared with those of documents.
#[derive(Debug)]
pub(in crate::reranking) struct QueryVectors {
    /// Maps the vector of a document token to its similarity with each query token.
    similarities: Linear,
}

impl QueryVectors {
    /// Packs one row of `width` values for each token.
    pub(super) fn new(rows: Vec<f32>, width: usize, scratch: &Scratch) -> Self {
        let parameters = Parameters {
            outputs: rows.len() / width,
            weights: rows,
            bias: None,
            inputs: width,
        };
        Self {
            similarities: Linear::float(parameters, &scratch.kernels),
        }
    }

    /// `MaxSim`: for each query token the highest similarity of a document token, summed over the query. It is NaN if the document has
    /// no tokens, or if a similarity is not finite.
    pub(super) fn score(&self, document: &[f32], scratch: &mut Scratch) -> f32 {
        let tokens = self.similarities.outputs();
        let similarities = self.similarities.mapped(document, &mut scratch.kernels);
        if similarities.is_empty() || !similarities.iter().all(|value| value.is_finite()) {
            return f32::NAN;
        }
        let mut best = vec![f32::NEG_INFINITY; tokens];
        for row in similarities.chunks_exact(tokens) {
            for (best, similarity) in best.iter_mut().zip(row) {
                *best = best.max(*similarity);
            }
        }
        best.iter().sum()
    }
}

/// Normalises each row to length 1.
pub(super) fn normalize_rows(rows: &mut [f32], width: usize) {
    rows.chunks_exact_mut(width).for_each(normalize);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_token_of_the_query_counts_its_best_match() {
        let mut scratch = Scratch::default();
        let query = QueryVectors::new(vec![1.0, 0.0, 0.0, 1.0, 0.6, 0.8], 2, &scratch);
        let mut document = vec![3.0, 4.0, -2.0, 0.0];
        normalize_rows(&mut document, 2);
        assert_eq!(document, [0.6, 0.8, -1.0, 0.0]);
        // 0.6 over -1, 0.8 over 0, and 0.36 + 0.64 over -0.6
        let score = query.score(&document, &mut scratch);
        assert!((score - 2.4).abs() < 1e-6, "{score}");
        assert!(query.score(&[], &mut scratch).is_nan());
        assert!(query.score(&[f32::NAN, 0.0], &mut scratch).is_nan());
    }
}
