//! The format safetensors: the length of a header, the header in JSON, and the tensors.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::file::TensorFile;
use super::located::{Layout, Located, Number, count};
use crate::error::{LocalError, WeightsError};

/// Longest header that is accepted, as in the reference implementation.
const MAX_HEADER: u64 = 100_000_000;

/// Bytes before the header, which hold its length.
const LENGTH: u64 = 8;

/// Most dimensions of a tensor. It bounds the memory that a header of numbers alone can take.
const MAX_DIMENSIONS: usize = 8;

/// The entry of a header that is not a tensor.
const METADATA: &str = "__metadata__";

/// The tensors of a header, read entry by entry, so that nothing else is kept in memory.
#[derive(Debug)]
struct Header(BTreeMap<String, Entry>);

#[derive(Debug, Deserialize)]
struct Entry {
    dtype: String,
    #[serde(deserialize_with = "dimensions")]
    shape: Vec<usize>,
    data_offsets: (u64, u64),
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

/// Reads [`Header`].
struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Header;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        let mut entries = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == METADATA {
                map.next_value::<IgnoredAny>()?;
            } else {
                entries.insert(name, map.next_value()?);
            }
        }
        Ok(Header(entries))
    }
}

fn dimensions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    deserializer.deserialize_seq(Dimensions)
}

/// Reads the shape of a tensor.
struct Dimensions;

impl<'de> Visitor<'de> for Dimensions {
    type Value = Vec<usize>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the sizes of a tensor's dimensions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<usize>, A::Error> {
        let mut shape = Vec::new();
        while let Some(size) = sequence.next_element()? {
            if shape.len() == MAX_DIMENSIONS {
                let message = "a tensor has more dimensions than weights have";
                return Err(A::Error::custom(message));
            }
            shape.push(size);
        }
        Ok(shape)
    }
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
    let header: Header =
        serde_json::from_slice(&header).map_err(|error| damaged(error.to_string()))?;
    let located = header.0.into_iter().map(|(name, entry)| {
        let tensor = tensor(&name, entry, LENGTH + length)?;
        Ok((name, tensor))
    });
    located.collect::<Result<_, _>>().map_err(damaged)
}

/// The place of a tensor by its entry in the header. `data` is where the data begins.
fn tensor(name: &str, entry: Entry, data: u64) -> Result<Located, String> {
    let number = Number::named(&entry.dtype);
    let (start, end) = entry.data_offsets;
    let fits = |width: u64| {
        let size = count(&entry.shape).and_then(|count| width.checked_mul(count as u64));
        size.is_some() && end.checked_sub(start) == size
    };
    if number.width().is_some_and(|width| !fits(width)) {
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
        assert_eq!(tensors["a"].number, Number::F16);
    }

    #[test]
    fn headers_that_only_grow_are_refused() {
        let ones = "1,".repeat(1 << 20);
        let header = format!(r#"{{"a": {{"dtype": "F32", "shape": [{ones}1]}}}}"#);
        assert_eq!(
            located(&header).unwrap_err(),
            "the header is damaged: a tensor has more dimensions than weights have at line 1 column 51"
        );
        assert_eq!(
            located(r#"{"a": [1]}"#).unwrap_err(),
            "the header is damaged: invalid type: integer `1`, expected a string at line 1 column 8"
        );
    }
}
