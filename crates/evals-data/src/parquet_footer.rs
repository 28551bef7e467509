//! Guards around the parquet crate: a check of footers, before it allocates memory for them, and errors in place of its panics.
//!
//! The crate allocates as many entries as a list or a group in the footer claims to have, and descends into a schema as deep as the footer
//! claims it to be. If the memory or the stack is not available, the process aborts, which no caller can catch. This check therefore
//! compares the claims with the bytes first. Whether the entries make sense is left to the crate.

use evals_guard::panics::{Panicked, caught};
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;
use thiserror::Error;

/// The footer's length and the magic bytes `PAR1` follow the footer.
const TAIL: u64 = 8;
/// The deepest nesting of structs, both in the footer itself and in the schema that it describes.
const MAX_DEPTH: usize = 64;

/// Kinds of values in thrift's compact protocol.
mod kind {
    pub(super) const STOP: u8 = 0;
    pub(super) const TRUE: u8 = 1;
    pub(super) const FALSE: u8 = 2;
    pub(super) const BYTE: u8 = 3;
    pub(super) const I16: u8 = 4;
    pub(super) const I32: u8 = 5;
    pub(super) const I64: u8 = 6;
    pub(super) const DOUBLE: u8 = 7;
    pub(super) const BINARY: u8 = 8;
    pub(super) const LIST: u8 = 9;
    pub(super) const STRUCT: u8 = 12;
}

/// Numbers of fields: the footer's list of schema elements, and the number of children in each element.
const SCHEMA: i16 = 2;
const CHILDREN: i16 = 5;

/// Refuses a footer that claims more entries than it has bytes.
pub(crate) fn check(file: &impl ChunkReader) -> Result<(), ParquetError> {
    let broken = || ParquetError::General("the footer is damaged".to_owned());
    let tail_at = file.len().checked_sub(TAIL).ok_or_else(broken)?;
    let tail = file.get_bytes(tail_at, 4)?;
    let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let begins_at = tail_at.checked_sub(length.into()).ok_or_else(broken)?;
    let bytes = file.get_bytes(begins_at, length as usize)?;
    let mut footer = Thrift { rest: &bytes };
    footer.metadata().ok_or_else(broken)
}

/// The parquet crate gave up by a panic.
#[derive(Debug, Error)]
#[error("the file is damaged ({0})")]
pub(crate) struct Damaged(Panicked);

/// Does the work; a panic in it becomes an error and is not printed. Do not use afterwards what the work changed.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Damaged> {
    caught(work).map_err(Damaged)
}

/// Bytes in thrift's compact protocol. All functions return `None` if these are not in the protocol.
struct Thrift<'b> {
    rest: &'b [u8],
}

impl Thrift<'_> {
    fn metadata(&mut self) -> Option<()> {
        self.fields(|footer, id, kind| match (id, kind) {
            (SCHEMA, kind::LIST) => footer.schema(),
            (SCHEMA, _) => None,
            _ => footer.skip(kind, MAX_DEPTH),
        })
    }

    /// The schema: a list of elements, each followed by its children. It has to be one tree.
    fn schema(&mut self) -> Option<()> {
        let (_, elements) = self.list()?;
        // For each open group, the number of children that must still follow. The first group holds the root.
        let mut open: Vec<u64> = vec![1];
        for _ in 0..elements {
            *open.last_mut()? -= 1;
            open.push(self.children()?);
            if open.len() > MAX_DEPTH {
                return None;
            }
            while open.last() == Some(&0) {
                open.pop();
            }
        }
        open.is_empty().then_some(())
    }

    /// The number of a schema element's children.
    fn children(&mut self) -> Option<u64> {
        let mut children = 0;
        self.fields(|element, id, kind| match (id, kind) {
            (CHILDREN, kind::I32) => {
                children = u64::try_from(element.integer()?).ok()?;
                Some(())
            }
            (CHILDREN, _) => None,
            _ => element.skip(kind, MAX_DEPTH),
        })?;
        Some(children)
    }

    /// Calls back with the number and kind of each field of a struct, to read its value.
    fn fields(&mut self, mut each: impl FnMut(&mut Self, i16, u8) -> Option<()>) -> Option<()> {
        let mut id = 0_i16;
        loop {
            let byte = self.byte()?;
            let kind = byte & 0x0f;
            if kind == kind::STOP {
                return Some(());
            }
            id = match byte >> 4 {
                // The crate keeps the lowest 16 bits of a larger number, which may then name a field that this check only skipped.
                0 => i16::try_from(self.integer()?).ok()?,
                step => id.checked_add(step.into())?,
            };
            each(self, id, kind)?;
        }
    }

    /// The kind and number of a list's elements. Each takes at least a byte.
    fn list(&mut self) -> Option<(u8, usize)> {
        let byte = self.byte()?;
        let elements = match usize::from(byte >> 4) {
            15 => usize::try_from(self.number()?).ok()?,
            few => few,
        };
        (elements <= self.rest.len()).then_some((byte & 0x0f, elements))
    }

    /// Skips a value of this kind, which may be nested so deep.
    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            kind::TRUE | kind::FALSE => Some(()),
            kind::BYTE => self.take(1),
            kind::I16..=kind::I64 => self.number().map(|_| ()),
            kind::DOUBLE => self.take(8),
            kind::BINARY => {
                let length = usize::try_from(self.number()?).ok()?;
                self.take(length)
            }
            kind::LIST => {
                let (kind, elements) = self.list()?;
                (0..elements).try_for_each(|_| match kind {
                    // In a list, truth values take a byte.
                    kind::TRUE | kind::FALSE => self.take(1),
                    other => self.skip(other, depth),
                })
            }
            kind::STRUCT => self.fields(|inner, _, kind| inner.skip(kind, depth)),
            // The protocol has sets and maps, but footers do not use them.
            _ => None,
        }
    }

    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn take(&mut self, bytes: usize) -> Option<()> {
        self.rest = self.rest.get(bytes..)?;
        Some(())
    }

    /// A number with seven bits in each byte, the lowest first.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number whose lowest bit is the sign.
    fn integer(&mut self) -> Option<i64> {
        let number = self.number()?;
        let half = (number >> 1).cast_signed();
        Some(if number & 1 == 0 { half } else { !half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_footer(footer: &[u8]) -> Option<()> {
        Thrift { rest: footer }.metadata()
    }

    #[test]
    fn a_list_of_more_entries_than_bytes_is_refused() {
        // Field 4, a list; 2^31 - 1 structs.
        let many = [0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00];
        assert_eq!(check_footer(&many), None);
        // Field 4, a list of one empty struct; the end.
        assert_eq!(check_footer(&[0x49, 0x1c, 0x00, 0x00]), Some(()));
    }

    #[test]
    fn a_schema_has_to_be_a_tree_of_moderate_depth() {
        // Field 2, a list of structs with field 5: each but the last has one child.
        let chain = |length: u8| {
            let mut bytes = vec![0x29, 0xfc, length];
            for element in 1..=length {
                bytes.extend([0x55, if element == length { 0 } else { 2 }, 0x00]);
            }
            bytes.push(0);
            bytes
        };
        assert_eq!(check_footer(&chain(20)), Some(()));
        assert_eq!(check_footer(&chain(120)), None);
        let too_few = [0x29, 0x1c, 0x55, 0x04, 0x00, 0x00];
        assert_eq!(check_footer(&too_few), None);
        let negative = [0x29, 0x1c, 0x55, 0x03, 0x00, 0x00];
        assert_eq!(check_footer(&negative), None);
    }

    #[test]
    fn a_schema_cannot_hide_behind_a_large_number_or_a_wrong_kind() {
        // Field 65538, of which the lowest 16 bits are 2, a list of one struct.
        assert_eq!(
            check_footer(&[0x09, 0x84, 0x80, 0x08, 0x1c, 0x00, 0x00]),
            None
        );
        // Field 32767 and the one after it.
        let last = [0x05, 0xfe, 0xff, 0x03, 0x00];
        assert_eq!(check_footer(&[&last[..], &[0x00]].concat()), Some(()));
        assert_eq!(
            check_footer(&[&last[..], &[0x15, 0x00, 0x00]].concat()),
            None
        );
        // Field 2, a number.
        assert_eq!(check_footer(&[0x25, 0x00, 0x00]), None);
        // Field 2, a list of one struct whose field 5 is a truth value, a byte or a number of 64 bits.
        for field in [&[0x51][..], &[0x53, 0x00], &[0x56, 0x00]] {
            let element = [&[0x29, 0x1c], field, &[0x00, 0x00]].concat();
            assert_eq!(check_footer(&element), None);
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        // Field 3, a list of one list of one list …
        let mut bytes = vec![0x39];
        bytes.extend([0x19; 100]);
        assert_eq!(check_footer(&bytes), None);
        assert_eq!(check_footer(&[0x39, 0x1e, 0x00]), None);
        assert_eq!(check_footer(&[0x38, 0x05, 0x41]), None);
    }
}
