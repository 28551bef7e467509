//! Linear maps, in 32-bit floats or in eight bits.

use std::fmt;

use rten_gemm::{BiasVector, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::SimdOp;
use rten_tensor::{Matrix, NdTensorView};

use super::Write;
use super::int8::{Dequantize, QuantizedColumns};
use super::matrix::{Kernels, MULTIPLIED};

/// A linear map `x W^T + b` of rows. Its weights are packed once, in the layout that suits the processor.
pub(crate) struct Linear {
    weights: Packed,
    bias: Option<Vec<f32>>,
    inputs: usize,
    outputs: usize,
}

enum Packed {
    Float(PackedBMatrix<f32>),
    Int8(Int8Weights),
}

struct Int8Weights {
    packed: PackedBMatrix<i8>,
    /// The size of a step of each output's weights.
    scales: Vec<f32>,
    /// The sum of each output's weights in steps, which is what a step of the zero point adds to a sum.
    totals: Vec<i32>,
}

/// Weights as a checkpoint holds them: one row of `inputs` values for each of `outputs` values.
pub(crate) struct Parameters {
    pub(crate) weights: Vec<f32>,
    pub(crate) bias: Option<Vec<f32>>,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

/// How many rows go through an 8-bit product at once, so that quantised inputs and sums stay in the cache of the processor.
const INT8_ROWS: usize = 64;

impl Linear {
    /// Packs weights as 32-bit floats.
    pub(crate) fn float(parameters: Parameters, kernels: &Kernels) -> Self {
        let (inputs, outputs) = (parameters.inputs, parameters.outputs);
        let transposed = transposed(&parameters.weights, inputs, outputs);
        Self {
            weights: Packed::Float(kernels.float.prepack_b(transposed)),
            bias: parameters.bias,
            inputs,
            outputs,
        }
    }

    /// Packs weights as 8-bit integers with one scale for each output.
    pub(crate) fn int8(parameters: Parameters, kernels: &Kernels) -> Self {
        let (inputs, outputs) = (parameters.inputs, parameters.outputs);
        let columns = QuantizedColumns::new(&parameters.weights, inputs, kernels.int8_limit());
        let transposed = transposed(&columns.values, inputs, outputs);
        Self {
            weights: Packed::Int8(Int8Weights {
                packed: kernels.int8.prepack_b(transposed),
                scales: columns.scales,
                totals: columns.totals,
            }),
            bias: parameters.bias,
            inputs,
            outputs,
        }
    }

    /// Length of the rows that it returns.
    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Maps each row of `input`.
    pub(crate) fn mapped(&self, input: &[f32], kernels: &mut Kernels) -> Vec<f32> {
        let mut output = vec![0.0; input.len() / self.inputs * self.outputs];
        self.apply(input, &mut output, Write::Replace, kernels);
        output
    }

    /// Maps each row of `input` to a row of `output`.
    pub(crate) fn apply(
        &self,
        input: &[f32],
        output: &mut [f32],
        write: Write,
        kernels: &mut Kernels,
    ) {
        match &self.weights {
            Packed::Float(weights) => {
                let rows = NdTensorView::from_data([input.len() / self.inputs, self.inputs], input);
                let options = GemmOptions {
                    beta: if write == Write::Add { 1.0 } else { 0.0 },
                    bias: self.bias.as_deref().map(BiasVector::Row),
                    ..GemmOptions::default()
                };
                let (rows, weights) = (GemmInputA::Unpacked(rows), GemmInputB::Packed(weights));
                let product = kernels.float.gemm(output, rows, weights, options);
                product.expect(MULTIPLIED);
            }
            Packed::Int8(weights) => {
                let inputs = input.chunks(INT8_ROWS * self.inputs);
                let outputs = output.chunks_mut(INT8_ROWS * self.outputs);
                for (input, output) in inputs.zip(outputs) {
                    self.apply_int8(input, output, weights, write, kernels);
                }
            }
        }
    }

    fn apply_int8(
        &self,
        input: &[f32],
        output: &mut [f32],
        weights: &Int8Weights,
        write: Write,
        kernels: &mut Kernels,
    ) {
        let rows = kernels.rows.fill(input, self.inputs);
        kernels.sums.resize(INT8_ROWS * self.outputs, 0);
        let sums = &mut kernels.sums[..output.len()];
        let input =
            NdTensorView::from_data([output.len() / self.outputs, self.inputs], rows.values);
        // `Dequantize` subtracts the zero points: the kernels would apply those of the first rows to all rows.
        let options = GemmOptions::default();
        let (input, packed) = (
            GemmInputA::Unpacked(input),
            GemmInputB::Packed(&weights.packed),
        );
        let product = kernels.int8.gemm(sums, input, packed, options);
        product.expect(MULTIPLIED);
        let sums = sums.chunks_exact(self.outputs);
        let outputs = output.chunks_exact_mut(self.outputs);
        for ((sums, output), row) in sums.zip(outputs).zip(rows.steps) {
            Dequantize {
                sums,
                row: *row,
                column_scales: &weights.scales,
                column_totals: &weights.totals,
                bias: self.bias.as_deref(),
                output,
                write,
            }
            .dispatch();
        }
    }
}

fn transposed<T>(weights: &[T], inputs: usize, outputs: usize) -> Matrix<'_, T> {
    NdTensorView::from_slice_with_strides([inputs, outputs], weights, [1, inputs])
        .expect("the shape was checked when the tensor was read")
}

impl fmt::Debug for Linear {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.weights {
            Packed::Float(_) => "f32",
            Packed::Int8(_) => "int8",
        };
        write!(
            formatter,
            "Linear({} -> {}, {kind})",
            self.inputs, self.outputs
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from -1 to 1 that look random and depend only on the seed.
    fn noise(count: usize, seed: u32) -> Vec<f32> {
        let steps = (0..count).scan(seed, |state, _| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u16::try_from(*state >> 16).ok()
        });
        steps.map(|step| f32::from(step) / 32_768.0 - 1.0).collect()
    }

    fn parameters(inputs: usize, outputs: usize) -> Parameters {
        Parameters {
            weights: noise(inputs * outputs, 1),
            bias: Some(noise(outputs, 2)),
            inputs,
            outputs,
        }
    }

    fn exact(parameters: &Parameters, input: &[f32]) -> Vec<f64> {
        let dot = |row: &[f32], weights: &[f32]| {
            row.iter()
                .zip(weights)
                .map(|(a, b)| f64::from(*a) * f64::from(*b))
                .sum::<f64>()
        };
        let bias = parameters.bias.as_deref().unwrap();
        let rows = input.chunks_exact(parameters.inputs);
        rows.flat_map(|row| {
            let weights = parameters.weights.chunks_exact(parameters.inputs);
            weights
                .zip(bias)
                .map(move |(weights, bias)| dot(row, weights) + f64::from(*bias))
                .collect::<Vec<_>>()
        })
        .collect()
    }

    fn furthest(linear: &Linear, parameters: &Parameters, rows: usize) -> f64 {
        let input = noise(rows * linear.inputs, 3);
        let mut output = vec![1.0; rows * linear.outputs];
        let mut kernels = Kernels::default();
        linear.apply(&input, &mut output, Write::Replace, &mut kernels);
        linear.apply(&input, &mut output, Write::Add, &mut kernels);
        let expected = exact(parameters, &input);
        let differences = output
            .iter()
            .zip(expected)
            .map(|(found, expected)| (f64::from(*found) - 2.0 * expected).abs());
        differences.fold(0.0, f64::max)
    }

    #[test]
    fn products_are_right_in_floats_and_in_eight_bits() {
        for (inputs, outputs, rows) in [
            (24, 33, 1),
            (384, 384, 3),
            (384, 384, 8),
            (384, 384, 64),
            (384, 1152, 70),
            (1536, 40, 70),
        ] {
            let kernels = Kernels::default();
            let size = f64::from(u16::try_from(inputs).unwrap());
            let float = Linear::float(parameters(inputs, outputs), &kernels);
            let distance = furthest(&float, &parameters(inputs, outputs), rows);
            assert!(
                distance < 1e-6 * size,
                "f32 {inputs} x {outputs} x {rows}: {distance}"
            );
            let int8 = Linear::int8(parameters(inputs, outputs), &kernels);
            let distance = furthest(&int8, &parameters(inputs, outputs), rows);
            // A processor that keeps seven bits of weights makes steps of twice the size.
            let step = f64::from(kernels.int8_limit()).recip();
            assert!(
                distance < 3.175 * step * size.sqrt(),
                "int8 {inputs} x {outputs} x {rows}: {distance}"
            );
        }
    }
}
