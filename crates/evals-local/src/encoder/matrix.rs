//! Products of matrices.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmUninitOptions};
use rten_tensor::{Matrix, MatrixLayout, NdTensorView};
use rten_vecmath::ExtendInit;

use super::int8::QuantizedRows;

/// Why the products below cannot fail: the shapes of weights are checked when a model is loaded.
pub(super) const MULTIPLIED: &str =
    "shapes and packing agree, since both come from one configuration";

/// Kernels that suit this processor, with the buffers of one thread.
pub(crate) struct Kernels {
    pub(super) float: GemmExecutor<f32, f32, f32>,
    pub(super) int8: GemmExecutor<u8, i8, i32>,
    /// Inputs and sums of 8-bit products.
    pub(super) rows: QuantizedRows,
    pub(super) sums: Vec<i32>,
}

impl Default for Kernels {
    /// Chooses the kernels by the instructions of the processor.
    fn default() -> Self {
        Self {
            float: GemmExecutor::new(),
            int8: GemmExecutor::new(),
            rows: QuantizedRows::default(),
            sums: Vec::new(),
        }
    }
}

impl Kernels {
    /// Bits of a weight, sign included, such that no sum of an 8-bit product overflows. Processors without 8-bit dot products first
    /// add two products in 16 bits.
    pub(crate) fn int8_bits(&self) -> u8 {
        if self.int8.may_saturate() { 7 } else { 8 }
    }

    /// The largest weight in this many bits.
    pub(super) fn int8_limit(&self) -> f32 {
        f32::from((1_u8 << (self.int8_bits() - 1)) - 1)
    }

    /// Replaces `output` by `scale * a b`.
    pub(super) fn product(&self, a: Matrix, b: Matrix, scale: f32, output: &mut Vec<f32>) {
        let size = a.rows() * b.cols();
        output.clear();
        output.reserve(size);
        output.extend_init(|buffer| {
            let options = GemmUninitOptions {
                alpha: scale,
                ..GemmUninitOptions::default()
            };
            self.float
                .gemm_uninit(
                    &mut buffer[..size],
                    GemmInputA::Unpacked(a),
                    GemmInputB::Unpacked(b),
                    options,
                )
                .expect(MULTIPLIED)
        });
    }
}

/// A matrix of this shape over `values`, whose rows and columns are `strides` apart.
pub(super) fn view(values: &[f32], shape: [usize; 2], strides: [usize; 2]) -> Matrix<'_> {
    NdTensorView::from_slice_with_strides(shape, values, strides)
        .expect("the view lies within the values of its text")
}
