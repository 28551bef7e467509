//! Zip archives as `PyTorch` writes them.

use std::collections::BTreeMap;

use super::super::file::TensorFile;
use crate::error::{LocalError, WeightsError};

/// The end of an archive: a record of this size, and a comment of at most 65,535 bytes, which `PyTorch` does not write.
const END: usize = 22;
const END_SIGNATURE: [u8; 4] = *b"PK\x05\x06";
/// Before the end of an archive with 64-bit numbers: where the record that holds them is.
const LOCATOR: u64 = 20;
const LOCATOR_SIGNATURE: [u8; 4] = *b"PK\x06\x07";
const END_64: u64 = 56;
const END_64_SIGNATURE: [u8; 4] = *b"PK\x06\x06";
/// An entry of the directory, without name, extra fields and comment.
const ENTRY: usize = 46;
const ENTRY_SIGNATURE: [u8; 4] = *b"PK\x01\x02";
/// The header before a record, without name and extra fields.
const HEADER: u64 = 30;
const HEADER_SIGNATURE: [u8; 4] = *b"PK\x03\x04";
/// The extra field with those numbers of an entry that need 64 bits.
const EXTRA_64: u16 = 1;

/// Longest directory that is accepted. It has an entry of about a hundred bytes for each tensor.
const MAX_DIRECTORY: u64 = 16 << 20;

/// The records of a zip archive as `PyTorch` writes it: not compressed, not encrypted, all in one folder.
#[derive(Debug)]
pub(super) struct Archive {
    records: BTreeMap<String, Record>,
    /// The folder, with its slash.
    folder: String,
}

/// One record of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Record {
    header: u64,
    length: u64,
    is_plain: bool,
}

/// Where a record's bytes are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) start: u64,
    pub(super) length: u64,
}

impl Archive {
    /// Reads the directory.
    pub(super) fn open(file: &TensorFile) -> Result<Self, LocalError> {
        let (start, length) = directory(file)?;
        if length > MAX_DIRECTORY {
            return Err(damaged(
                file,
                format!("its directory claims {length} bytes"),
            ));
        }
        let bytes = file.bytes(start, length)?;
        let bytes = bytes.ok_or_else(|| damaged(file, "its directory is not in the file"))?;
        let records = records(&bytes).ok_or_else(|| damaged(file, "its directory is damaged"))?;
        let folder = records.keys().find_map(|name| {
            let folder = name.strip_suffix("data.pkl")?;
            folder.ends_with('/').then(|| folder.to_owned())
        });
        let folder = folder.ok_or_else(|| damaged(file, "there is no `data.pkl`"))?;
        Ok(Self { records, folder })
    }

    /// Where the bytes of a record are, `None` if it does not exist.
    pub(super) fn extent(
        &self,
        name: &str,
        file: &TensorFile,
    ) -> Result<Option<Extent>, LocalError> {
        let name = format!("{}{name}", self.folder);
        let Some(record) = self.records.get(&name) else {
            return Ok(None);
        };
        if !record.is_plain {
            return Err(damaged(
                file,
                format!("`{name}` is compressed or encrypted"),
            ));
        }
        let header = file.bytes(record.header, HEADER)?.unwrap_or_default();
        let lengths = header
            .starts_with(&HEADER_SIGNATURE)
            .then(|| Some(u64::from(short(&header, 26)?) + u64::from(short(&header, 28)?)))
            .flatten();
        let start = lengths.and_then(|lengths| record.header.checked_add(HEADER + lengths));
        let inside = start.filter(|start| {
            let end = start.checked_add(record.length);
            end.is_some_and(|end| end <= file.length())
        });
        match inside {
            Some(start) => Ok(Some(Extent {
                start,
                length: record.length,
            })),
            None => Err(damaged(
                file,
                format!("`{name}` is not where the directory says"),
            )),
        }
    }

    /// The bytes of a record that must exist.
    pub(super) fn bytes(
        &self,
        name: &str,
        longest: u64,
        file: &TensorFile,
    ) -> Result<Vec<u8>, LocalError> {
        let missing = || damaged(file, format!("there is no `{name}`"));
        let extent = self.extent(name, file)?.ok_or_else(missing)?;
        if extent.length > longest {
            return Err(damaged(
                file,
                format!("`{name}` has {} bytes", extent.length),
            ));
        }
        file.bytes(extent.start, extent.length)?.ok_or_else(missing)
    }

    /// The text of a short record, if it exists.
    pub(super) fn text(&self, name: &str, file: &TensorFile) -> Result<Option<String>, LocalError> {
        const LONGEST: u64 = 64;
        if self.extent(name, file)?.is_none() {
            return Ok(None);
        }
        let bytes = self.bytes(name, LONGEST, file)?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }
}

/// Where the directory starts, and its length.
fn directory(file: &TensorFile) -> Result<(u64, u64), LocalError> {
    let none = || damaged(file, "the end of a zip archive is missing");
    let window = file.length().min(END as u64 + u64::from(u16::MAX));
    let tail_start = file.length() - window;
    let tail = file.bytes(tail_start, window)?.ok_or_else(none)?;
    let at = tail
        .windows(END)
        .rposition(|bytes| bytes.starts_with(&END_SIGNATURE))
        .ok_or_else(none)?;
    if let Some(found) = directory_64(file, tail_start + at as u64)? {
        return Ok(found);
    }
    let end = &tail[at..];
    let length = int(end, 12).ok_or_else(none)?;
    let start = int(end, 16).ok_or_else(none)?;
    Ok((u64::from(start), u64::from(length)))
}

/// The same for an archive with 64-bit numbers, whose 32-bit end is at `end`.
fn directory_64(file: &TensorFile, end: u64) -> Result<Option<(u64, u64)>, LocalError> {
    let Some(locator) = end.checked_sub(LOCATOR) else {
        return Ok(None);
    };
    let locator = file.bytes(locator, LOCATOR)?.unwrap_or_default();
    if !locator.starts_with(&LOCATOR_SIGNATURE) {
        return Ok(None);
    }
    let record = match long(&locator, 8) {
        Some(at) => file.bytes(at, END_64)?.unwrap_or_default(),
        None => Vec::new(),
    };
    let found = record
        .starts_with(&END_64_SIGNATURE)
        .then(|| Some((long(&record, 48)?, long(&record, 40)?)))
        .flatten();
    let found = found.ok_or_else(|| damaged(file, "the end of its directory is damaged"))?;
    Ok(Some(found))
}

/// The entries of the directory, `None` if it is damaged.
fn records(mut rest: &[u8]) -> Option<BTreeMap<String, Record>> {
    let mut records = BTreeMap::new();
    while rest.starts_with(&ENTRY_SIGNATURE) {
        let [name, extra, comment] = [28, 30, 32].map(|at| short(rest, at).map(usize::from));
        let (name_end, extra_end) = (ENTRY + name?, ENTRY + name? + extra?);
        let name = std::str::from_utf8(rest.get(ENTRY..name_end)?).ok()?;
        let extra = rest.get(name_end..extra_end)?;
        records.insert(name.to_owned(), record(rest, extra)?);
        rest = rest.get(extra_end + comment?..)?;
    }
    rest.is_empty().then_some(records)
}

fn record(entry: &[u8], extra: &[u8]) -> Option<Record> {
    let is_encrypted = short(entry, 8)? & 1 == 1;
    let is_stored = short(entry, 10)? == 0;
    let mut wide = extra_64(extra);
    // Numbers that need 64 bits are in the extra field in this order, and only those.
    let mut number = |at: usize| match int(entry, at)? {
        u32::MAX => {
            let value = long(wide, 0)?;
            wide = &wide[8..];
            Some(value)
        }
        narrow => Some(u64::from(narrow)),
    };
    let length = number(24)?;
    let stored = number(20)?;
    let header = number(42)?;
    Some(Record {
        header,
        length,
        is_plain: is_stored && !is_encrypted && stored == length,
    })
}

/// The extra field with 64-bit numbers, empty if there is none.
fn extra_64(mut extra: &[u8]) -> &[u8] {
    while let (Some(kind), Some(length)) = (short(extra, 0), short(extra, 2)) {
        let end = 4 + usize::from(length);
        match extra.get(4..end) {
            Some(field) if kind == EXTRA_64 => return field,
            Some(_) => extra = &extra[end..],
            None => break,
        }
    }
    &[]
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*bytes))
}

fn int(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*bytes))
}

fn damaged(file: &TensorFile, what: impl Into<String>) -> LocalError {
    file.error(WeightsError::Archive(what.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as in section 4.3.12 of APPNOTE 6.3.9.
    fn entry(sizes: [u32; 2], header: u32, extra: &[u8]) -> Vec<u8> {
        let mut entry = vec![0; ENTRY];
        entry[..4].copy_from_slice(&ENTRY_SIGNATURE);
        entry[20..24].copy_from_slice(&sizes[0].to_le_bytes());
        entry[24..28].copy_from_slice(&sizes[1].to_le_bytes());
        entry[28] = 3;
        entry[30] = u8::try_from(extra.len()).unwrap();
        entry[42..46].copy_from_slice(&header.to_le_bytes());
        entry.extend_from_slice(b"a/b");
        entry.extend_from_slice(extra);
        entry
    }

    #[test]
    fn numbers_of_64_bits_are_in_an_extra_field() {
        let (size, start) = (5_000_000_000_u64, 6_000_000_000_u64);
        let other = [0x09, 0x00, 0x01, 0x00, 0x07];
        let wide = |values: &[u64]| {
            let bytes: Vec<u8> = values
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            [
                other.as_slice(),
                &[1, 0, u8::try_from(bytes.len()).unwrap(), 0],
                &bytes,
            ]
            .concat()
        };
        let record = |entry: &[u8]| records(entry).map(|records| records["a/b"]);
        let is_plain = true;
        let all = entry([u32::MAX; 2], u32::MAX, &wide(&[size, size, start]));
        assert_eq!(
            record(&all),
            Some(Record {
                header: start,
                length: size,
                is_plain
            })
        );
        let start_alone = entry([7, 7], u32::MAX, &wide(&[start]));
        assert_eq!(
            record(&start_alone),
            Some(Record {
                header: start,
                length: 7,
                is_plain
            })
        );
        let absent = entry([u32::MAX; 2], 0, &wide(&[size]));
        assert_eq!(record(&absent), None);
    }

    #[test]
    fn compressed_records_are_recognised() {
        let mut compressed = entry([5, 9], 0, &[]);
        compressed[10] = 8;
        assert!(!records(&compressed).unwrap()["a/b"].is_plain);
    }
}
