//! The second half of a layer: two linear maps with an activation between them.

use super::Write;
use super::activation::Activation;
use super::linear::Linear;
use super::matrix::Kernels;

/// How many rows go through both maps at once, so that the values between them stay in the cache.
const ROWS: usize = 128;

/// The two linear maps of a layer with an activation between them.
#[derive(Debug)]
pub(crate) struct FeedForward {
    pub(crate) up: Linear,
    pub(crate) down: Linear,
    pub(crate) activation: Activation,
    pub(crate) gate: Gate,
}

/// How the output of the first map is activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// The activation is applied to all of it.
    None,
    /// The activation is applied to the first half, which then multiplies the second.
    Half,
}

impl FeedForward {
    /// Adds the result for each row of `input` to the row of `hidden`.
    pub(crate) fn add(
        &self,
        input: &[f32],
        hidden: &mut [f32],
        kernels: &mut Kernels,
        between: &mut Vec<f32>,
    ) {
        let width = self.down.outputs();
        let inputs = input.chunks(ROWS * width);
        for (input, hidden) in inputs.zip(hidden.chunks_mut(ROWS * width)) {
            self.add_block(input, hidden, kernels, between);
        }
    }

    fn add_block(
        &self,
        input: &[f32],
        hidden: &mut [f32],
        kernels: &mut Kernels,
        between: &mut Vec<f32>,
    ) {
        let rows = input.len() / self.down.outputs();
        let wide = self.up.outputs();
        between.resize(rows * wide, 0.0);
        self.up.apply(input, between, Write::Replace, kernels);
        if self.gate == Gate::None {
            self.activation.apply(between);
        } else {
            self.multiply_halves(between, wide);
            between.truncate(rows * wide / 2);
        }
        self.down.apply(between, hidden, Write::Add, kernels);
    }

    /// Writes the products into the first half of `between`, row after row.
    fn multiply_halves(&self, between: &mut [f32], wide: usize) {
        let half = wide / 2;
        for row in 0..between.len() / wide {
            let (activated, gate) = between[row * wide..][..wide].split_at_mut(half);
            self.activation.apply(activated);
            for (value, gate) in activated.iter_mut().zip(gate) {
                *value *= *gate;
            }
            between.copy_within(row * wide..row * wide + half, row * half);
        }
    }
}
