//! Files in the format of safetensors: the length of a header, the header in JSON, and the tensors as it says.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::file::TensorFile;
use super::located::{Layout, Located, Number, count};
use crate::local::error::{LocalError, WeightsError};

/// Longest header that is believed, which is what the reference implementation believes.
const MAX_HEADER: u64 = 100_000_000;

/// Bytes before the header: its length.
const LENGTH: u64 = 8;

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

pub(super) fn locate(file: &TensorFile) -> Result<BTreeMap<String, Located>, LocalError> {
    let damaged = |what: String| file.error(WeightsError::Header(what));
    let too_short = || damaged("the file is too short".to_owned());
    let length = file.bytes(0, LENGTH)?.ok_or_else(too_short)?;
    let length = <[u8; 8]>::try_from(length).map_err(|_| too_short())?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER {
        return Err(damaged(format!("it claims {length} bytes")));
    }
    let header = file.bytes(LENGTH, length)?.ok_or_else(too_short)?;
    let mut entries: BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(&header).map_err(|error| damaged(error.to_string()))?;
    entries.remove("__metadata__");
    let located = entries.into_iter().map(|(name, entry)| {
        let entry: Entry = serde_json::from_value(entry).map_err(|error| error.to_string())?;
        let tensor = tensor(&name, entry, LENGTH + length)?;
        Ok((name, tensor))
    });
    located.collect::<Result<_, _>>().map_err(damaged)
}

/// A tensor by its entry in the header, which the data follows.
fn tensor(name: &str, entry: Entry, data: u64) -> Result<Located, String> {
    let number = Number::named(&entry.dtype);
    let (start, end) = entry.data_offsets;
    let width = match number {
        Number::F32 => Some(4),
        Number::F16 | Number::Bf16 => Some(2),
        Number::Other(_) => None,
    };
    let fits = |width: u64| {
        let size = count(&entry.shape).and_then(|count| width.checked_mul(count as u64));
        size.is_some() && end.checked_sub(start) == size
    };
    if width.is_some_and(|width| !fits(width)) {
        return Err(format!(
            "`{name}` lies at {start}..{end}, which is not its size"
        ));
    }
    Ok(Located {
        number,
        shape: entry.shape,
        start: data.saturating_add(start),
        layout: Layout::RowMajor,
    })
}
