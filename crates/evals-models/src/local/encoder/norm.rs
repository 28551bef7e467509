use rten_simd::SimdOp;
use rten_vecmath::{Normalize, NormalizeOptions, Sum, SumSquareSub};

/// Layer normalisation of rows: mean 0, variance 1, then a scale and a bias for each column.
#[derive(Debug)]
pub(in crate::local) struct LayerNorm {
    pub(in crate::local) scale: Vec<f32>,
    pub(in crate::local) bias: Option<Vec<f32>>,
    pub(in crate::local) epsilon: f32,
}

impl LayerNorm {
    /// Normalises each row in place.
    pub(in crate::local) fn apply(&self, rows: &mut [f32]) {
        let columns = columns(&self.scale);
        for row in rows.chunks_exact_mut(self.scale.len()) {
            let mean = Sum::new(row).dispatch() / columns;
            let variance = SumSquareSub::new(row, mean).dispatch() / columns;
            let options = NormalizeOptions {
                pre_scale_bias: mean,
                scale: (variance + self.epsilon).sqrt().recip(),
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
