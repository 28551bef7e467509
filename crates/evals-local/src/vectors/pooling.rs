//! From the vectors of tokens to one vector, and its length.

use crate::settings::Pooling;

impl Pooling {
    /// The vector of a text from the vectors of its tokens. There must be at least one.
    #[expect(
        clippy::cast_precision_loss,
        reason = "texts have some thousand tokens"
    )]
    pub(crate) fn pool(self, tokens: &[f32], width: usize) -> Vec<f32> {
        let rows = tokens.chunks_exact(width);
        let count = rows.len();
        match self {
            Self::Cls => tokens[..width].to_vec(),
            Self::Last => tokens[tokens.len() - width..].to_vec(),
            Self::Max => rows.fold(vec![f32::NEG_INFINITY; width], |largest, row| {
                largest.iter().zip(row).map(|(a, b)| a.max(*b)).collect()
            }),
            Self::Mean => weighted(rows.map(|row| (row, 1.0)), width, count as f32),
            Self::WeightedMean => {
                let total = (count * (count + 1) / 2) as f32;
                let weights = (1..=count).map(|weight| weight as f32);
                weighted(rows.zip(weights), width, total)
            }
        }
    }
}

fn weighted<'row>(
    rows: impl Iterator<Item = (&'row [f32], f32)>,
    width: usize,
    total: f32,
) -> Vec<f32> {
    let mut sums = vec![0.0; width];
    for (row, weight) in rows {
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value * weight;
        }
    }
    for sum in &mut sums {
        *sum /= total;
    }
    sums
}

/// Normalises a vector to length 1. A vector of zeros stays as it is.
pub(crate) fn normalize(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in vector {
            *value /= length;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKENS: [f32; 6] = [1.0, -4.0, 2.0, 5.0, 6.0, 2.0];

    #[test]
    fn pools_three_tokens_of_two_values() {
        assert_eq!(Pooling::Mean.pool(&TOKENS, 2), [3.0, 1.0]);
        assert_eq!(Pooling::Cls.pool(&TOKENS, 2), [1.0, -4.0]);
        assert_eq!(Pooling::Last.pool(&TOKENS, 2), [6.0, 2.0]);
        assert_eq!(Pooling::Max.pool(&TOKENS, 2), [6.0, 5.0]);
        // (1 + 2 * 2 + 3 * 6) / 6 and (-4 + 2 * 5 + 3 * 2) / 6
        assert_eq!(Pooling::WeightedMean.pool(&TOKENS, 2), [23.0 / 6.0, 2.0]);
    }

    #[test]
    fn normalized_vectors_have_length_one() {
        let mut vector = [3.0, -4.0];
        normalize(&mut vector);
        assert_eq!(vector.as_slice(), [0.6, -0.8]);
        let mut nothing = [0.0, 0.0];
        normalize(&mut nothing);
        assert_eq!(nothing.as_slice(), [0.0, 0.0]);
    }
}
