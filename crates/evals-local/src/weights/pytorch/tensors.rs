//! The tensors of a pickle, located in the archive.

use super::super::file::TensorFile;
use super::super::located::{Layout, Located, Number, count, span};
use super::archive::{Archive, Extent};
use super::pickle::Tensor;
use crate::error::{LocalError, WeightsError};

/// Locates the values of a tensor in the archive, and checks that its storage has all of them.
pub(super) fn located(
    name: &str,
    tensor: &Tensor,
    archive: &Archive,
    file: &TensorFile,
) -> Result<Located, LocalError> {
    let record = format!("data/{}", tensor.storage.key);
    let damaged = |what: String| file.error(WeightsError::Archive(what));
    let extent = archive.extent(&record, file)?;
    let extent = extent.ok_or_else(|| damaged(format!("there is no `{record}`")))?;
    let located = placed(tensor, extent);
    located.ok_or_else(|| damaged(format!("`{name}` is not within its `{record}`")))
}

/// `None` if the tensor reaches beyond its storage.
fn placed(tensor: &Tensor, storage: Extent) -> Option<Located> {
    let width = tensor.storage.width;
    let offset = u64::try_from(tensor.offset).ok()?;
    let shape = sizes(&tensor.shape)?;
    let strides = sizes(&tensor.strides)?;
    let span = span(&shape, &strides)?;
    let values = count(&shape)?;
    let end = offset.checked_add(span as u64)?.checked_mul(width)?;
    if end > storage.length {
        return None;
    }
    let layout = if values as u64 > storage.length / width {
        Layout::Repeated
    } else if is_row_major(&shape, &strides) {
        Layout::RowMajor
    } else {
        Layout::Strided { strides, span }
    };
    Some(Located {
        number: Number::named(tensor.storage.number),
        shape,
        start: storage.start.checked_add(offset.checked_mul(width)?)?,
        layout,
    })
}

fn sizes(numbers: &[i64]) -> Option<Vec<usize>> {
    numbers
        .iter()
        .map(|number| usize::try_from(*number).ok())
        .collect()
}

/// Whether strides are those of row-major order. The stride of a dimension of size 1 does not matter.
fn is_row_major(shape: &[usize], strides: &[usize]) -> bool {
    let mut expected = Some(1_usize);
    shape.iter().zip(strides).rev().all(|(size, stride)| {
        let fits = *size == 1 || expected == Some(*stride);
        expected = expected.and_then(|expected| expected.checked_mul(*size));
        fits
    })
}
