//! Normalisation of rows.

use rten_simd::SimdOp;
use rten_vecmath::{Normalize, NormalizeOptions, Sum, SumSquare, SumSquareSub};

/// The kind of normalisation of a row, before each column is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NormKind {
    /// Mean 0 and variance 1.
    Centered,
    /// Mean square 1. The mean is not changed.
    RootMeanSquare,
}

/// Normalisation of rows, followed by a scale and a bias for each column.
#[derive(Debug)]
pub(crate) struct Norm {
    pub(crate) kind: NormKind,
    pub(crate) scale: Vec<f32>,
    pub(crate) bias: Option<Vec<f32>>,
    /// Added to the variance or the mean square, so that rows of zeros stay zeros.
    pub(crate) epsilon: f32,
}

impl Norm {
    /// Normalises each row in place.
    pub(crate) fn apply(&self, rows: &mut [f32]) {
        let columns = columns(&self.scale);
        for row in rows.chunks_exact_mut(self.scale.len()) {
            let (center, spread) = match self.kind {
                NormKind::Centered => {
                    let mean = Sum::new(row).dispatch() / columns;
                    (mean, SumSquareSub::new(row, mean).dispatch() / columns)
                }
                NormKind::RootMeanSquare => (0.0, SumSquare::new(row).dispatch() / columns),
            };
            let options = NormalizeOptions {
                pre_scale_bias: center,
                scale: (spread + self.epsilon).sqrt().recip(),
                element_scale: Some(&self.scale),
                element_bias: self.bias.as_deref(),
                ..NormalizeOptions::default()
            };
            Normalize::new_mut(row, options).dispatch();
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rows are some thousand values long"
)]
fn columns(scale: &[f32]) -> f32 {
    scale.len() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(kind: NormKind, row: &[f32]) -> Vec<f32> {
        let norm = Norm {
            kind,
            scale: vec![1.0, 1.0, 1.0, 10.0],
            bias: None,
            epsilon: 0.0,
        };
        let mut row = row.to_vec();
        norm.apply(&mut row);
        row
    }

    #[test]
    fn rows_are_centered_or_only_scaled() {
        // Mean 4, variance 9; mean square 25.
        let row = &[1.0, 7.0, 1.0, 7.0];
        assert_eq!(normalized(NormKind::Centered, row), [-1.0, 1.0, -1.0, 10.0]);
        assert_eq!(
            normalized(NormKind::RootMeanSquare, row),
            [0.2, 1.4, 0.2, 14.0]
        );
    }
}
