//! Files that `torch.save` writes, such as `pytorch_model.bin`: a zip archive with a pickle that lists the tensors, and one record
//! for each storage that holds values.
//!
//! The pickle is read as data, and nothing in it can call anything. Everything that does not belong to a table of tensors is refused.

#[cfg(test)]
mod fuzz;
mod pickle;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, Read};

use zip::{CompressionMethod, ZipArchive};

use super::file::TensorFile;
use super::located::{Located, count, span};
use crate::error::{LocalError, WeightsError};
use pickle::PickledTensor;

/// Longest pickle that is accepted. The largest of known models have a few hundred kilobytes.
const MAX_PICKLE: u64 = 16 << 20;

/// Longest name of an order of bytes.
const MAX_ORDER: u64 = 64;

/// The beginning of files from before `PyTorch` 1.6, which are a pickle of protocol 2 with a magic number instead of an archive.
const LEGACY: [u8; 4] = [0x80, 0x02, 0x8a, 0x0a];

pub(super) fn locate(file: &TensorFile) -> Result<BTreeMap<String, Located>, LocalError> {
    if file.bytes(0, 4)?.is_some_and(|begin| begin == LEGACY) {
        return Err(file.error(WeightsError::Legacy));
    }
    let located = Archive::open(&file.lock(), file.length()).and_then(Archive::tensors);
    located.map_err(|error| file.error(error))
}

/// The records of a zip archive as `PyTorch` writes it: not compressed, not encrypted, all in one folder.
struct Archive<'file> {
    zip: ZipArchive<BufReader<&'file File>>,
    /// The folder, with its slash.
    folder: String,
    /// Size of the file.
    length: u64,
}

/// Where a record's bytes are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    start: u64,
    length: u64,
}

impl<'file> Archive<'file> {
    fn open(file: &'file File, length: u64) -> Result<Self, WeightsError> {
        let zip = ZipArchive::new(BufReader::new(file)).map_err(unreadable)?;
        let folder = zip.file_names().find_map(|name| {
            let folder = name.ok()?.strip_suffix("data.pkl")?.to_owned();
            folder.ends_with('/').then_some(folder)
        });
        Ok(Self {
            folder: folder.ok_or_else(|| damaged("there is no `data.pkl`"))?,
            zip,
            length,
        })
    }

    /// Locates all tensors.
    fn tensors(mut self) -> Result<BTreeMap<String, Located>, WeightsError> {
        let order = self.bytes("byteorder", MAX_ORDER)?;
        if order.is_some_and(|order| order != b"little") {
            return Err(damaged("its bytes are not in little-endian order"));
        }
        let pickle = self.bytes("data.pkl", MAX_PICKLE)?;
        let tensors = pickle::entries(&pickle.unwrap_or_default())?;
        let located = tensors.into_iter().map(|(name, tensor)| {
            let record = format!("data/{}", tensor.storage.key);
            let storage = self.extent(&record)?;
            let storage = storage.ok_or_else(|| damaged(format!("there is no `{record}`")))?;
            let outside = || damaged(format!("`{name}` is not within its `{record}`"));
            let located = placed(tensor, storage).ok_or_else(outside)?;
            Ok((name, located))
        });
        located.collect()
    }

    /// Where the bytes of a record are, `None` if it does not exist.
    fn extent(&mut self, record: &str) -> Result<Option<Extent>, WeightsError> {
        let name = format!("{}{record}", self.folder);
        let Some(index) = self.zip.index_for_name(&name) else {
            return Ok(None);
        };
        let found = self.zip.by_index_raw(index).map_err(unreadable)?;
        let (start, length) = (found.data_start(), found.size());
        let is_plain = found.compression() == CompressionMethod::Stored && !found.encrypted();
        if !is_plain || found.compressed_size() != length {
            return Err(damaged(format!("`{record}` is compressed or encrypted")));
        }
        let end = start.and_then(|start| start.checked_add(length));
        match start {
            Some(start) if end.is_some_and(|end| end <= self.length) => {
                Ok(Some(Extent { start, length }))
            }
            _ => Err(damaged(format!("`{record}` is not in the file"))),
        }
    }

    /// The bytes of a record, `None` if it does not exist.
    fn bytes(&mut self, record: &str, longest: u64) -> Result<Option<Vec<u8>>, WeightsError> {
        let Some(extent) = self.extent(record)? else {
            return Ok(None);
        };
        if extent.length > longest {
            let fault = format!("`{record}` has {} bytes", extent.length);
            return Err(damaged(fault));
        }
        let name = format!("{}{record}", self.folder);
        let mut found = self.zip.by_name(&name).map_err(unreadable)?;
        let mut bytes = Vec::new();
        found.read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(Some(bytes))
    }
}

/// Locates the values of a tensor in its storage, `None` if it reaches beyond it.
fn placed(tensor: PickledTensor, storage: Extent) -> Option<Located> {
    let width = tensor.storage.width;
    let (shape, strides) = (tensor.shape, tensor.strides);
    let offset = tensor.offset as u64;
    count(&shape)?;
    let end = offset.checked_add(span(&shape, &strides)? as u64)?;
    if end.checked_mul(width)? > storage.length {
        return None;
    }
    Some(Located {
        dtype: tensor.storage.dtype.to_owned(),
        start: storage.start.checked_add(offset.checked_mul(width)?)?,
        strides: (!is_row_major(&shape, &strides)).then_some(strides),
        shape,
    })
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

fn damaged(fault: impl Into<String>) -> WeightsError {
    WeightsError::Damaged {
        part: "archive",
        fault: fault.into(),
    }
}

fn unreadable(error: impl Error) -> WeightsError {
    damaged(error.to_string())
}
