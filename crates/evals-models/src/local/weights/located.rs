use half::{bf16, f16};

use super::file::TensorFile;
use crate::local::error::{LocalError, WeightsError};

/// What a tensor's values are written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Number {
    F32,
    F16,
    Bf16,
    /// Whole numbers, or floats that weights are not made of. Such a tensor may be there, but not be read.
    Other(String),
}

/// A tensor's place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) number: Number,
    pub(super) shape: Vec<usize>,
    /// Position of the first value's first byte in the file.
    pub(super) start: u64,
    pub(super) layout: Layout,
}

/// How a tensor's values follow each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Row after row.
    RowMajor,
    /// Values apart from one another in each dimension, the last of them `span` values after the start.
    Strided { strides: Vec<usize>, span: usize },
}

impl Number {
    /// By the name that safetensors use.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "F32" => Self::F32,
            "F16" => Self::F16,
            "BF16" => Self::Bf16,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl Located {
    /// How many values the tensor has; `None` if more than can be counted.
    pub(super) fn count(&self) -> Option<usize> {
        count(&self.shape)
    }

    /// The values in row-major order as 32-bit floats.
    pub(super) fn read(&self, name: &str, file: &TensorFile) -> Result<Vec<f32>, LocalError> {
        let stored = match &self.layout {
            Layout::RowMajor => self.count(),
            Layout::Strided { span, .. } => Some(*span),
        };
        let stored = match &self.number {
            Number::F32 => floats::<4>(&self.bytes(name, stored, 4, file)?, f32::from_le_bytes),
            Number::F16 => floats::<2>(&self.bytes(name, stored, 2, file)?, |bytes| {
                f16::from_le_bytes(bytes).to_f32()
            }),
            Number::Bf16 => floats::<2>(&self.bytes(name, stored, 2, file)?, |bytes| {
                bf16::from_le_bytes(bytes).to_f32()
            }),
            Number::Other(dtype) => {
                return Err(file.error(WeightsError::Dtype {
                    name: name.to_owned(),
                    dtype: dtype.clone(),
                }));
            }
        };
        Ok(match &self.layout {
            Layout::RowMajor => stored,
            Layout::Strided { strides, .. } => gathered(&stored, &self.shape, strides),
        })
    }

    fn bytes(
        &self,
        name: &str,
        values: Option<usize>,
        width: u64,
        file: &TensorFile,
    ) -> Result<Vec<u8>, LocalError> {
        let length = values.and_then(|values| (values as u64).checked_mul(width));
        let bytes = match length {
            Some(length) => file.bytes(self.start, length)?,
            None => None,
        };
        bytes.ok_or_else(|| file.error(WeightsError::Truncated(name.to_owned())))
    }
}

/// Values of a tensor of this shape; `None` if more than can be counted.
pub(super) fn count(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1, |count: usize, size| count.checked_mul(*size))
}

fn floats<const WIDTH: usize>(bytes: &[u8], read: impl Fn([u8; WIDTH]) -> f32) -> Vec<f32> {
    let (values, _) = bytes.as_chunks::<WIDTH>();
    values.iter().map(|value| read(*value)).collect()
}

/// Puts values row after row, counting indices up from the last dimension.
fn gathered(stored: &[f32], shape: &[usize], strides: &[usize]) -> Vec<f32> {
    let mut values = Vec::new();
    if shape.contains(&0) {
        return values;
    }
    let mut index = vec![0; shape.len()];
    let mut position = 0;
    loop {
        values.push(stored[position]);
        let mut dimension = shape.len();
        loop {
            if dimension == 0 {
                return values;
            }
            dimension -= 1;
            index[dimension] += 1;
            position += strides[dimension];
            if index[dimension] < shape[dimension] {
                break;
            }
            position -= index[dimension] * strides[dimension];
            index[dimension] = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_values_are_put_row_after_row() {
        let stored = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(
            gathered(&stored, &[3, 2], &[1, 3]),
            [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
        );
        assert_eq!(gathered(&stored, &[2, 2], &[3, 2]), [0.0, 2.0, 3.0, 5.0]);
        assert_eq!(gathered(&stored, &[], &[]), [0.0]);
        assert_eq!(gathered(&stored, &[2, 0], &[1, 1]), [0.0; 0]);
    }
}
