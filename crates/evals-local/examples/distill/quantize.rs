//! Vectors in eight bits.

use crate::encoder::Vectors;

/// Vectors in 8 bits a value.
pub(crate) struct Quantized {
    /// The factor that turns each token's values back into its vector.
    pub(crate) scales: Vec<f32>,
    /// Rows of -127 to 127, token after token.
    pub(crate) values: Vec<i8>,
}

impl Quantized {
    /// Rounds each vector to 127 steps up to its own largest value, so that small vectors lose no more than large ones.
    pub(crate) fn new(vectors: &Vectors) -> Self {
        let mut quantized = Self {
            scales: Vec::with_capacity(vectors.len()),
            values: Vec::new(),
        };
        for vector in vectors {
            let largest = vector
                .iter()
                .map(|value| value.abs())
                .max_by(f64::total_cmp)
                .unwrap_or(0.0);
            let step = if largest > 0.0 { largest / 127.0 } else { 1.0 };
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the scale is kept in single precision, the values are at most 127"
            )]
            {
                quantized.scales.push(step as f32);
                quantized
                    .values
                    .extend(vector.iter().map(|value| (value / step).round() as i8));
            }
        }
        quantized
    }
}
