//! The place of a tensor in a file, and reading it.

use half::{bf16, f16};

use super::file::TensorFile;
use crate::error::{LocalError, WeightsError};

/// The place of a tensor in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Located {
    /// The type of its values, as safetensors call it. A tensor of a type that weights do not have may exist, but cannot be read.
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
    /// Position of its first byte in the file.
    pub(super) start: u64,
    /// How far apart neighbours are in each dimension, in values. `None` if the values lie row after row.
    pub(super) strides: Option<Vec<usize>>,
}

/// Bytes of one value, `None` for types that cannot be read.
pub(super) fn width(dtype: &str) -> Option<u64> {
    match dtype {
        "F32" => Some(4),
        "F16" | "BF16" => Some(2),
        _ => None,
    }
}

impl Located {
    /// The part of the tensor at this index of the first dimension, `None` past the end.
    pub(super) fn row(&self, index: usize) -> Option<Self> {
        let (rows, shape) = self.shape.split_first()?;
        if index >= *rows {
            return None;
        }
        let stride = match &self.strides {
            None => count(shape)?,
            Some(strides) => strides[0],
        };
        // Reading refuses types without a width.
        let width = width(&self.dtype).unwrap_or(0);
        let before = (index.checked_mul(stride)? as u64).checked_mul(width)?;
        Some(Self {
            dtype: self.dtype.clone(),
            shape: shape.to_vec(),
            start: self.start.checked_add(before)?,
            strides: self.strides.as_ref().map(|strides| strides[1..].to_vec()),
        })
    }

    /// The values in row-major order as 32-bit floats.
    pub(super) fn read(&self, name: &str, file: &TensorFile) -> Result<Vec<f32>, LocalError> {
        let read: fn(&[u8]) -> Vec<f32> = match self.dtype.as_str() {
            "F32" => |bytes| floats(bytes, f32::from_le_bytes),
            "F16" => |bytes| floats(bytes, |value| f16::from_le_bytes(value).to_f32()),
            "BF16" => |bytes| floats(bytes, |value| bf16::from_le_bytes(value).to_f32()),
            _ => {
                return Err(file.error(WeightsError::Dtype {
                    name: name.to_owned(),
                    dtype: self.dtype.clone(),
                }));
            }
        };
        let count = count(&self.shape);
        let stored = match &self.strides {
            None => count,
            Some(strides) => span(&self.shape, strides),
        };
        if count > stored {
            return Err(file.error(WeightsError::Repeated(name.to_owned())));
        }
        let bytes = stored.zip(width(&self.dtype));
        let length = bytes.and_then(|(stored, width)| width.checked_mul(stored as u64));
        let truncated = || file.error(WeightsError::Truncated(name.to_owned()));
        let bytes = file.bytes(self.start, length.ok_or_else(truncated)?)?;
        let values = read(&bytes.ok_or_else(truncated)?);
        Ok(match &self.strides {
            None => values,
            Some(strides) => gathered(&values, &self.shape, strides),
        })
    }
}

/// The number of values of this shape, `None` on overflow.
pub(super) fn count(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1, |count: usize, size| count.checked_mul(*size))
}

/// The number of stored values from the first to the last one of a tensor, `None` on overflow and if there is not one stride for
/// each dimension.
pub(super) fn span(shape: &[usize], strides: &[usize]) -> Option<usize> {
    if shape.len() != strides.len() {
        return None;
    }
    if shape.contains(&0) {
        return Some(0);
    }
    let mut dimensions = shape.iter().zip(strides);
    dimensions.try_fold(1, |span: usize, (size, stride)| {
        span.checked_add((size - 1).checked_mul(*stride)?)
    })
}

fn floats<const WIDTH: usize>(bytes: &[u8], read: impl Fn([u8; WIDTH]) -> f32) -> Vec<f32> {
    let (values, _) = bytes.as_chunks::<WIDTH>();
    values.iter().map(|value| read(*value)).collect()
}

/// Copies values into row-major order.
fn gathered(stored: &[f32], shape: &[usize], strides: &[usize]) -> Vec<f32> {
    let place = |index: usize| {
        let (mut rest, mut place) = (index, 0);
        for (size, stride) in shape.iter().zip(strides).rev() {
            place += rest % size * stride;
            rest /= size;
        }
        place
    };
    let count = shape.iter().product();
    (0..count).map(|index| stored[place(index)]).collect()
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
