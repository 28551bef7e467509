//! The weight of each token.

use crate::encoder::Vectors;

/// Weight of a token that never occurs is 1, and one half for a token of this probability.
const A: f64 = 1e-4;

/// Multiplies each vector by its smooth inverse frequency `a / (a + p)` (Arora et al. 2017, "A simple but tough-to-beat baseline for
/// sentence embeddings"). The vocabulary is sorted by frequency, so Zipf's law gives the probability `p`, as in model2vec: the token at
/// position `i`, from 0, has a share proportional to `1 / (i + 2)`.
pub(crate) fn weigh(vectors: &mut Vectors) {
    let total: f64 = inverse_ranks().take(vectors.len()).sum();
    for (vector, inverse_rank) in vectors.iter_mut().zip(inverse_ranks()) {
        let weight = A / (A + inverse_rank / total);
        for value in vector {
            *value *= weight;
        }
    }
}

fn inverse_ranks() -> impl Iterator<Item = f64> {
    (2_u32..).map(|rank| 1.0 / f64::from(rank))
}
