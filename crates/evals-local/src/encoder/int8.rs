//! Eight-bit products: weights as signed integers with one scale for each output, inputs as unsigned integers with one scale
//! and one zero point for each row, sums exact in 32 bits.

use rten_simd::ops::{BitOps, FloatOps, NarrowSaturate, NumOps, ToFloat};
use rten_simd::{Isa, SimdOp};
use rten_vecmath::MinMax;

use super::Write;

/// Weights in eight bits.
pub(super) struct QuantizedColumns {
    pub(super) values: Vec<i8>,
    /// The size of a step of each output's weights.
    pub(super) scales: Vec<f32>,
    /// The sum of each output's weights in steps.
    pub(super) totals: Vec<i32>,
}

impl QuantizedColumns {
    /// Scales each row of `weights`, which belongs to one output, to -`limit`..=`limit`.
    pub(super) fn new(weights: &[f32], inputs: usize, limit: f32) -> Self {
        let rows = weights.chunks_exact(inputs);
        let scales: Vec<f32> = rows.clone().map(|row| largest(row) / limit).collect();
        let values: Vec<i8> = rows
            .zip(&scales)
            .flat_map(|(row, scale)| {
                let steps = if *scale == 0.0 { 0.0 } else { scale.recip() };
                row.iter().map(move |weight| to_i8(weight * steps))
            })
            .collect();
        let totals = values
            .chunks_exact(inputs)
            .map(|row| row.iter().map(|step| i32::from(*step)).sum())
            .collect();
        Self {
            values,
            scales,
            totals,
        }
    }
}

fn largest(row: &[f32]) -> f32 {
    row.iter()
        .fold(0.0, |largest, weight| largest.max(weight.abs()))
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the scale keeps values within 127"
)]
fn to_i8(value: f32) -> i8 {
    value.round_ties_even() as i8
}

/// How one row of an input is quantised: a value is `scale * (step - zero)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Steps {
    scale: f32,
    zero: i32,
}

/// Buffers for the quantised rows of an input.
#[derive(Debug, Default)]
pub(super) struct QuantizedRows {
    values: Vec<u8>,
    steps: Vec<Steps>,
}

/// The quantised rows of an input.
pub(super) struct Rows<'rows> {
    pub(super) values: &'rows [u8],
    pub(super) steps: &'rows [Steps],
}

impl QuantizedRows {
    /// Scales each row of `input` to 0..=255 by itself, so that no text depends on another.
    pub(super) fn fill(&mut self, input: &[f32], inputs: usize) -> Rows<'_> {
        self.values.resize(input.len(), 0);
        self.steps.clear();
        let rows = input.chunks_exact(inputs);
        for (row, values) in rows.zip(self.values.chunks_exact_mut(inputs)) {
            let (low, high) = MinMax::new(row).dispatch();
            let (low, high) = (low.min(0.0), high.max(0.0));
            let span = high - low;
            let per_unit = if span > 0.0 { 255.0 / span } else { 0.0 };
            let zero = to_i32(-low * per_unit);
            Quantize {
                row,
                per_unit,
                zero,
                values,
            }
            .dispatch();
            self.steps.push(Steps {
                scale: span / 255.0,
                zero,
            });
        }
        Rows {
            values: &self.values,
            steps: &self.steps,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "callers scale values to some hundred steps"
)]
fn to_i32(value: f32) -> i32 {
    value.round_ties_even() as i32
}

/// Quantises one row to steps from 0 to 255.
struct Quantize<'row> {
    row: &'row [f32],
    per_unit: f32,
    zero: i32,
    values: &'row mut [u8],
}

impl SimdOp for Quantize<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "only inlined code is compiled for the instructions of `isa`"
    )]
    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (float, int, short, byte) = (isa.f32(), isa.i32(), isa.i16(), isa.u8());
        let lanes = float.len();
        let (per_unit, zero) = (float.splat(self.per_unit), int.splat(self.zero));
        let whole = self.row.len() / (4 * lanes) * (4 * lanes);
        let mut at = 0;
        while at < whole {
            // Written out four times: a closure would not be compiled for the instructions of `isa`.
            let a = float.mul(float.load(&self.row[at..]), per_unit);
            let b = float.mul(float.load(&self.row[at + lanes..]), per_unit);
            let c = float.mul(float.load(&self.row[at + 2 * lanes..]), per_unit);
            let d = float.mul(float.load(&self.row[at + 3 * lanes..]), per_unit);
            let a = int.add(float.to_int_round(a), zero);
            let b = int.add(float.to_int_round(b), zero);
            let c = int.add(float.to_int_round(c), zero);
            let d = int.add(float.to_int_round(d), zero);
            let (low, high) = (int.narrow_saturate(a, b), int.narrow_saturate(c, d));
            byte.store(short.narrow_saturate(low, high), &mut self.values[at..]);
            at += 4 * lanes;
        }
        for (value, step) in self.row[whole..].iter().zip(&mut self.values[whole..]) {
            *step = to_u8(to_i32(value * self.per_unit) + self.zero);
        }
    }
}

#[expect(clippy::cast_sign_loss, reason = "clamped to what fits")]
fn to_u8(step: i32) -> u8 {
    step.clamp(0, 255) as u8
}

/// Turns one row of sums back into floats: `(sum - zero * column total) * row scale * column scale + bias`.
pub(super) struct Dequantize<'row> {
    pub(super) sums: &'row [i32],
    pub(super) row: Steps,
    pub(super) column_scales: &'row [f32],
    pub(super) column_totals: &'row [i32],
    pub(super) bias: Option<&'row [f32]>,
    pub(super) output: &'row mut [f32],
    pub(super) write: Write,
}

impl SimdOp for Dequantize<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "only inlined code is compiled for the instructions of `isa`"
    )]
    #[inline(always)]
    fn eval<I: Isa>(mut self, isa: I) {
        let (float, int) = (isa.f32(), isa.i32());
        let lanes = float.len();
        let row_scale = float.splat(self.row.scale);
        let zero = int.splat(self.row.zero);
        let mut at = 0;
        while at + lanes <= self.sums.len() {
            let shift = int.mul(int.load(&self.column_totals[at..]), zero);
            let sums = int.to_float(int.sub(int.load(&self.sums[at..]), shift));
            let scales = float.mul(float.load(&self.column_scales[at..]), row_scale);
            let mut base = match self.bias {
                Some(bias) => float.load(&bias[at..]),
                None => float.zero(),
            };
            if self.write == Write::Add {
                base = float.add(base, float.load(&self.output[at..]));
            }
            float.store(float.mul_add(sums, scales, base), &mut self.output[at..]);
            at += lanes;
        }
        for column in at..self.sums.len() {
            self.one(column);
        }
    }
}

impl Dequantize<'_> {
    #[expect(
        clippy::cast_precision_loss,
        reason = "the last bit of a sum is below the error of eight bits"
    )]
    fn one(&mut self, column: usize) {
        let scale = self.column_scales[column] * self.row.scale;
        let base = match self.write {
            Write::Replace => 0.0,
            Write::Add => self.output[column],
        };
        let bias = self.bias.map_or(0.0, |bias| bias[column]);
        let sum = self.sums[column] - self.column_totals[column] * self.row.zero;
        self.output[column] = (sum as f32).mul_add(scale, bias + base);
    }
}
