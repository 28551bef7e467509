//! Files that `torch.save` writes, such as `pytorch_model.bin`: a zip archive with a pickle that lists the tensors, and one record
//! for each storage that holds values.
//!
//! The pickle is read as data, and nothing in it can call anything. Everything that does not belong to a table of tensors is refused.

mod archive;
#[cfg(test)]
mod fuzz;
mod pickle;
mod tensors;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::file::TensorFile;
use super::located::Located;
use crate::error::{LocalError, WeightsError};
use archive::Archive;

/// Longest pickle that is accepted. The largest of known models have a few hundred kilobytes.
const MAX_PICKLE: u64 = 16 << 20;

/// The beginning of files from before `PyTorch` 1.6, which are a pickle of protocol 2 with a magic number instead of an archive.
const LEGACY: [u8; 4] = [0x80, 0x02, 0x8a, 0x0a];

pub(super) fn locate(file: &TensorFile) -> Result<BTreeMap<String, Located>, LocalError> {
    if file.bytes(0, 4)?.is_some_and(|begin| begin == LEGACY) {
        return Err(file.error(WeightsError::Legacy));
    }
    let archive = Archive::open(file)?;
    if archive
        .text("byteorder", file)?
        .is_some_and(|order| order != "little")
    {
        return Err(file.error(WeightsError::Archive(
            "its bytes are not in little-endian order".to_owned(),
        )));
    }
    let pickle = archive.bytes("data.pkl", MAX_PICKLE, file)?;
    let tensors = pickle::entries(&pickle).map_err(|error| file.error(error))?;
    tensors
        .into_iter()
        .map(|(name, tensor)| {
            let located = tensors::located(&name, &tensor, &archive, file)?;
            Ok((name, located))
        })
        .collect()
}
