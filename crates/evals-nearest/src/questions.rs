//! The questions of a pass, normalised and packed for the product.

use std::fmt;

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmUninitOptions, PackedBMatrix};
use rten_tensor::NdTensorView;

use crate::margin::PLAIN_SQUARES;

/// The questions as the right-hand side of a product.
pub(crate) struct Questions {
    packed: PackedBMatrix<f32>,
    dimension: usize,
    count: usize,
    /// Questions whose length is too extreme for the product. They are compared with every row by the caller's function.
    extreme: Vec<usize>,
}

impl Questions {
    /// `values` are the questions one after the other, each of `dimension` components.
    pub(crate) fn new(values: &[f32], dimension: usize) -> Self {
        let count = values.len() / dimension;
        let mut extreme = Vec::new();
        let mut normalised = Vec::with_capacity(values.len());
        for (number, question) in values.chunks_exact(dimension).enumerate() {
            let square: f64 = question.iter().map(|it| f64::from(*it).powi(2)).sum();
            let plain = PLAIN_SQUARES;
            let plain = f64::from(*plain.start())..=f64::from(*plain.end());
            if plain.contains(&square) {
                let length = square.sqrt();
                normalised.extend(question.iter().map(|it| single(f64::from(*it) / length)));
            } else {
                extreme.push(number);
                normalised.extend(question.iter().map(|_| 0.0));
            }
        }
        let rows = NdTensorView::from_data([count, dimension], normalised.as_slice());
        let packed = gemm().prepack_b(rows.transposed());
        Self {
            packed,
            dimension,
            count,
            extreme,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(crate) fn extreme(&self) -> &[usize] {
        &self.extreme
    }

    /// The product of each row with each question, row by row.
    pub(crate) fn products<'a>(&self, rows: &[f32], products: &'a mut Vec<f32>) -> &'a [f32] {
        let shape = [rows.len() / self.dimension, self.dimension];
        let size = shape[0] * self.count;
        products.clear();
        products.reserve(size);
        let space = &mut products.spare_capacity_mut()[..size];
        let rows = NdTensorView::from_data(shape, rows);
        gemm()
            .gemm_uninit(
                space,
                GemmInputA::Unpacked(rows),
                GemmInputB::Packed(&self.packed),
                GemmUninitOptions::default(),
            )
            .expect("the questions are packed for this kernel and have the dimension of the rows")
    }
}

/// The kernel for this processor. Choosing it costs nothing beside a product, and it cannot move between threads.
fn gemm() -> GemmExecutor<f32, f32, f32> {
    GemmExecutor::new()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the product is in single precision, and the margin allows for it"
)]
fn single(value: f64) -> f32 {
    value as f32
}

impl fmt::Debug for Questions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Questions")
            .field("count", &self.count)
            .field("dimension", &self.dimension)
            .field("kernel", &gemm().kernel_name())
            .finish_non_exhaustive()
    }
}
