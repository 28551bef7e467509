//! The format safetensors: the length of a header, the header in JSON, and the tensors.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::file::TensorFile;
use super::located::{Located, count, width};
use crate::error::{LocalError, WeightsError};

/// Longest header that is accepted. Those of known models have less than a megabyte.
const MAX_HEADER: u64 = 16 << 20;

/// Bytes before the header, which hold its length.
const LENGTH: u64 = 8;

/// The entry of a header that is not a tensor.
const METADATA: &str = "__metadata__";

#[derive(Debug, Deserialize)]
struct TensorEntry {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

pub(super) fn locate(file: &TensorFile) -> Result<BTreeMap<String, Located>, LocalError> {
    let damaged = |fault: String| {
        file.error(WeightsError::Damaged {
            part: "header",
            fault,
        })
    };
    let too_short = || damaged("the file is too short".to_owned());
    let length = file.bytes(0, LENGTH)?.ok_or_else(too_short)?;
    let length = <[u8; 8]>::try_from(length).map_err(|_| too_short())?;
    let length = u64::from_le_bytes(length);
    if length > MAX_HEADER {
        return Err(damaged(format!("it claims {length} bytes")));
    }
    let header = file.bytes(LENGTH, length)?.ok_or_else(too_short)?;
    let header = serde_json::from_slice::<Map<String, Value>>(&header);
    let header = header.map_err(|error| damaged(error.to_string()))?;
    let tensors = header.into_iter().filter(|(name, _)| name != METADATA);
    let located = tensors.map(|(name, entry)| {
        let entry = serde_json::from_value(entry);
        let entry = entry.map_err(|error| format!("`{name}`: {error}"))?;
        let tensor = tensor(&name, entry, LENGTH + length)?;
        Ok((name, tensor))
    });
    located.collect::<Result<_, _>>().map_err(damaged)
}

/// The place of a tensor by its entry in the header. `data` is where the data begins.
fn tensor(name: &str, entry: TensorEntry, data: u64) -> Result<Located, String> {
    let (start, end) = entry.data_offsets;
    let fits = |width: u64| {
        let size = count(&entry.shape).and_then(|count| width.checked_mul(count as u64));
        size.is_some() && end.checked_sub(start) == size
    };
    if width(&entry.dtype).is_some_and(|width| !fits(width)) {
        return Err(format!(
            "`{name}` lies at {start}..{end}, which is not its size"
        ));
    }
    Ok(Located {
        dtype: entry.dtype,
        shape: entry.shape,
        start: data.saturating_add(start),
        strides: None,
    })
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;
    use std::io::Write;

    use tempfile::NamedTempFile;

    use super::*;

    fn located(header: &str) -> Result<BTreeMap<String, Located>, String> {
        let mut written = NamedTempFile::new().unwrap();
        let length = header.len() as u64;
        written.write_all(&length.to_le_bytes()).unwrap();
        written.write_all(header.as_bytes()).unwrap();
        let file = TensorFile::open(written.path().to_owned()).unwrap();
        locate(&file).map_err(|error| error.source().unwrap().to_string())
    }

    #[test]
    fn metadata_of_any_form_is_ignored() {
        let tensors = located(
            r#"{"__metadata__": {"format": "pt", "deep": [[{"a": null}]]},
                "a": {"dtype": "F16", "shape": [2, 3], "data_offsets": [4, 16]}}"#,
        );
        let tensors = tensors.unwrap();
        assert_eq!(tensors.keys().collect::<Vec<_>>(), ["a"]);
        assert_eq!(tensors["a"].shape, [2, 3]);
        assert_eq!(tensors["a"].dtype, "F16");
    }

    #[test]
    fn headers_that_only_grow_are_refused() {
        let ones = "1,".repeat(8 << 20);
        let header = format!(r#"{{"a": {{"dtype": "F32", "shape": [{ones}1]}}}}"#);
        let refused = format!("the header is damaged: it claims {} bytes", header.len());
        assert_eq!(located(&header).unwrap_err(), refused);
        assert_eq!(
            located(r#"{"a": [1]}"#).unwrap_err(),
            "the header is damaged: `a`: invalid type: integer `1`, expected a string"
        );
    }
}
