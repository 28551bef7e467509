//! The place of a tensor in a file, and reading it.

use half::{bf16, f16};

use super::file::TensorFile;
use crate::error::{LocalError, WeightsError};

/// The type of the values of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Number {
    F32,
    F16,
    Bf16,
    /// Integers, or floats that weights do not use. Such a tensor may exist, but cannot be read.
    Other(String),
}

/// The place of a tensor in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) number: Number,
    pub(super) shape: Vec<usize>,
    /// Position of its first byte in the file.
    pub(super) start: u64,
    pub(super) layout: Layout,
}

/// The order of the values of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Row after row.
    RowMajor,
    /// With a stride for each dimension. The tensor spans `span` values of the file.
    Strided { strides: Vec<usize>, span: usize },
    /// With repeated values, so that the tensor has more values than the file stores. Such a tensor may exist, but cannot be read.
    Repeated,
}

impl Number {
    /// The type that safetensors call by this name.
    pub(super) fn named(name: &str) -> Self {
        match name {
            "F32" => Self::F32,
            "F16" => Self::F16,
            "BF16" => Self::Bf16,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Bytes of one value, `None` for types that cannot be read.
    pub(super) fn width(&self) -> Option<u64> {
        match self {
            Self::F32 => Some(4),
            Self::F16 | Self::Bf16 => Some(2),
            Self::Other(_) => None,
        }
    }
}

impl Located {
    /// The number of values, `None` on overflow.
    pub(super) fn count(&self) -> Option<usize> {
        count(&self.shape)
    }

    /// The part of the tensor at this index of the first dimension, `None` past the end.
    pub(super) fn row(&self, index: usize) -> Option<Self> {
        let (rows, shape) = self.shape.split_first()?;
        if index >= *rows {
            return None;
        }
        let (stride, layout) = match &self.layout {
            Layout::RowMajor => (count(shape)?, Layout::RowMajor),
            Layout::Strided { strides, .. } => {
                let (stride, strides) = strides.split_first()?;
                let (strides, span) = (strides.to_vec(), span(shape, strides)?);
                (*stride, Layout::Strided { strides, span })
            }
            Layout::Repeated => (0, Layout::Repeated),
        };
        // Reading refuses types without a width.
        let width = self.number.width().unwrap_or(0);
        let before = (index.checked_mul(stride)? as u64).checked_mul(width)?;
        Some(Self {
            number: self.number.clone(),
            shape: shape.to_vec(),
            start: self.start.checked_add(before)?,
            layout,
        })
    }

    /// The values in row-major order as 32-bit floats.
    pub(super) fn read(&self, name: &str, file: &TensorFile) -> Result<Vec<f32>, LocalError> {
        let stored = match &self.layout {
            Layout::RowMajor => self.count(),
            Layout::Strided { span, .. } => Some(*span),
            Layout::Repeated => {
                return Err(file.error(WeightsError::Repeated(name.to_owned())));
            }
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
            Layout::Strided { strides, .. } => gathered(&stored, &self.shape, strides),
            Layout::RowMajor | Layout::Repeated => stored,
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

/// The number of values of this shape, `None` on overflow.
pub(super) fn count(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1, |count: usize, size| count.checked_mul(*size))
}

/// The number of stored values from the first to the last one of a tensor.
pub(super) fn span(shape: &[usize], strides: &[usize]) -> Option<usize> {
    if shape.len() != strides.len() {
        return None;
    }
    if shape.contains(&0) {
        return Some(0);
    }
    shape
        .iter()
        .zip(strides)
        .try_fold(1, |span: usize, (size, stride)| {
            span.checked_add((size - 1).checked_mul(*stride)?)
        })
}

fn floats<const WIDTH: usize>(bytes: &[u8], read: impl Fn([u8; WIDTH]) -> f32) -> Vec<f32> {
    let (values, _) = bytes.as_chunks::<WIDTH>();
    values.iter().map(|value| read(*value)).collect()
}

/// Copies values into row-major order, counting indices up from the last dimension.
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
