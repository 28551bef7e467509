//! The parts of an encoder, from named tensors.

use crate::encoder::{Kernels, Linear, Norm, NormKind, Parameters, TokenEmbeddings};
use crate::error::LocalError;
use crate::settings::Dtype;
use crate::weights::Weights;

/// Builds the parts of an encoder from named tensors.
pub(crate) struct Builder {
    pub(crate) weights: Weights,
    kernels: Kernels,
    dtype: Dtype,
}

impl Builder {
    /// Builds parts from these tensors, with linear maps in `dtype`.
    pub(crate) fn new(weights: Weights, dtype: Dtype) -> Self {
        Self {
            weights,
            kernels: Kernels::default(),
            dtype,
        }
    }

    /// A table of rows of `width` values. It has as many rows as the file, and at least one.
    pub(crate) fn table(&self, name: &str, width: usize) -> Result<Vec<f32>, LocalError> {
        let rows = self
            .weights
            .shape(name)?
            .first()
            .copied()
            .unwrap_or(0)
            .max(1);
        self.weights.tensor(name, &[rows, width])
    }

    /// The vectors of tokens alone, from the table of this name.
    pub(super) fn words(&self, name: &str, width: usize) -> Result<TokenEmbeddings, LocalError> {
        Ok(TokenEmbeddings {
            words: self.table(name, width)?,
            positions: None,
            segments: None,
            norm: None,
            width,
        })
    }

    /// A linear map with the weights `name.weight` and, if it exists, the bias `name.bias`.
    pub(crate) fn linear(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Linear, LocalError> {
        Ok(self.pack(self.parameters(name, inputs, outputs)?))
    }

    /// A linear map in 32-bit floats even if the encoder is in others: heads are small, and their scores have to be exact.
    pub(crate) fn head(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Linear, LocalError> {
        let parameters = self.parameters(name, inputs, outputs)?;
        Ok(Linear::float(parameters, &self.kernels))
    }

    /// Several linear maps of the same input as one map, with their outputs one after another.
    pub(super) fn joined(
        &self,
        names: &[String],
        inputs: usize,
        outputs: usize,
    ) -> Result<Linear, LocalError> {
        let parts: Vec<_> = names.iter().map(|name| (name.clone(), outputs)).collect();
        self.side_by_side(&parts, inputs)
    }

    /// Several linear maps of the same input as one map, each with its name and the number of its outputs.
    pub(super) fn side_by_side(
        &self,
        parts: &[(String, usize)],
        inputs: usize,
    ) -> Result<Linear, LocalError> {
        let (mut weights, mut biases) = (Vec::new(), Vec::new());
        let mut biased = false;
        for (name, outputs) in parts {
            let part = self.parameters(name, inputs, *outputs)?;
            biased |= part.bias.is_some();
            weights.extend(part.weights);
            biases.extend(part.bias.unwrap_or_else(|| vec![0.0; *outputs]));
        }
        let all = Parameters {
            outputs: biases.len(),
            weights,
            bias: biased.then_some(biases),
            inputs,
        };
        Ok(self.pack(all))
    }

    /// Normalisation with the scale `name.weight` and, if it exists, the bias `name.bias`. The first checkpoints of BERT call them
    /// `name.gamma` and `name.beta`.
    pub(crate) fn norm(&self, name: &str, width: usize, epsilon: f32) -> Result<Norm, LocalError> {
        let (scale, bias) = match format!("{name}.gamma") {
            gamma if self.weights.has(&gamma) => (gamma, format!("{name}.beta")),
            _ => (format!("{name}.weight"), format!("{name}.bias")),
        };
        Ok(Norm {
            kind: NormKind::Centered,
            scale: self.weights.tensor(&scale, &[width])?,
            bias: self.optional(&bias, width)?,
            epsilon,
        })
    }

    /// Normalisation by the mean square, with the scale `name.weight`.
    pub(super) fn root_mean_square_norm(
        &self,
        name: &str,
        width: usize,
        epsilon: f32,
    ) -> Result<Norm, LocalError> {
        Ok(Norm {
            kind: NormKind::RootMeanSquare,
            ..self.norm(name, width, epsilon)?
        })
    }

    /// The builder for tensors outside the encoder, by their full names.
    pub(crate) fn root(self) -> Self {
        Self {
            weights: self.weights.root(),
            ..self
        }
    }

    fn optional(&self, name: &str, length: usize) -> Result<Option<Vec<f32>>, LocalError> {
        let there = self.weights.has(name).then_some(name);
        there
            .map(|name| self.weights.tensor(name, &[length]))
            .transpose()
    }

    fn parameters(
        &self,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Parameters, LocalError> {
        let bias = format!("{name}.bias");
        Ok(Parameters {
            weights: self
                .weights
                .tensor(&format!("{name}.weight"), &[outputs, inputs])?,
            bias: self.optional(&bias, outputs)?,
            inputs,
            outputs,
        })
    }

    /// A linear map in the `dtype` of the encoder.
    pub(super) fn pack(&self, parameters: Parameters) -> Linear {
        match self.dtype {
            Dtype::F32 => Linear::float(parameters, &self.kernels),
            Dtype::Int8 => Linear::int8(parameters, &self.kernels),
        }
    }
}
