//! A check of parquet footers, before the parquet crate allocates memory for them.
//!
//! The crate allocates as many entries as a list in the footer claims to have, and descends into a schema as deep as the footer claims
//! it to be. If the memory or the stack is not available, the process aborts, which no caller can catch. This check therefore compares
//! the claims with the bytes first. Whether the entries make sense is left to the crate.

use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

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

/// Field numbers: the footer's list of schema elements, and the number of children in each element.
const SCHEMA: i16 = 2;
const CHILDREN: i16 = 5;

/// Refuses a footer that claims more entries than it has bytes.
pub(crate) fn check(file: &impl ChunkReader) -> Result<(), ParquetError> {
    let size = file.len();
    let broken = |what: &str| ParquetError::General(format!("the footer {what}"));
    let tail_at = size.checked_sub(TAIL).ok_or_else(|| broken("is missing"))?;
    let tail = file.get_bytes(tail_at, 4)?;
    let length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
    let begins_at = tail_at
        .checked_sub(u64::from(length))
        .ok_or_else(|| broken("is larger than the file"))?;
    let length = usize::try_from(length).map_err(|_| broken("is too large"))?;
    let bytes = file.get_bytes(begins_at, length)?;
    let mut footer = Thrift { rest: &bytes };
    match footer.metadata() {
        Ok(()) => Ok(()),
        Err(Broken::CutOff) => Err(broken("ends in the middle of an entry")),
        Err(Broken::Claims) => Err(broken("claims more entries than it has bytes")),
        Err(Broken::Kind) => Err(broken("has an entry of no known kind")),
        Err(Broken::Depth) => Err(broken("nests its entries too deep")),
        Err(Broken::Schema) => Err(broken("describes a schema that is not a tree")),
    }
}

/// A defect of a footer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Broken {
    CutOff,
    Claims,
    Kind,
    Depth,
    Schema,
}

/// Bytes in thrift's compact protocol.
struct Thrift<'b> {
    rest: &'b [u8],
}

impl Thrift<'_> {
    fn metadata(&mut self) -> Result<(), Broken> {
        let mut last = 0;
        while let Some((id, kind)) = self.field(last)? {
            if id == SCHEMA && kind == kind::LIST {
                self.schema()?;
            } else {
                self.skip(kind, MAX_DEPTH)?;
            }
            last = id;
        }
        Ok(())
    }

    /// The schema: a list of elements, each followed by its children.
    fn schema(&mut self) -> Result<(), Broken> {
        let (kind, elements) = self.list()?;
        if kind != kind::STRUCT {
            return Err(Broken::Schema);
        }
        // For each open group, the number of children that must still follow.
        let mut open: Vec<u64> = Vec::new();
        for element in 0..elements {
            let children = self.children()?;
            match open.last_mut() {
                Some(awaited) => *awaited -= 1,
                None if element > 0 => return Err(Broken::Schema),
                None => {}
            }
            if children > 0 {
                open.push(children);
            }
            if open.len() > MAX_DEPTH {
                return Err(Broken::Depth);
            }
            while open.last() == Some(&0) {
                open.pop();
            }
        }
        if open.is_empty() {
            Ok(())
        } else {
            Err(Broken::Schema)
        }
    }

    /// The number of a schema element's children.
    fn children(&mut self) -> Result<u64, Broken> {
        let mut children = 0;
        let mut last = 0;
        while let Some((id, kind)) = self.field(last)? {
            if id == CHILDREN && kind == kind::I32 {
                children = u64::try_from(self.integer()?).map_err(|_| Broken::Schema)?;
            } else {
                self.skip(kind, MAX_DEPTH)?;
            }
            last = id;
        }
        Ok(children)
    }

    /// The number and kind of the next field of a struct; `None` at the end of the struct.
    fn field(&mut self, last: i16) -> Result<Option<(i16, u8)>, Broken> {
        let byte = self.byte()?;
        let kind = byte & 0x0f;
        if kind == kind::STOP {
            return Ok(None);
        }
        let id = match i16::from(byte >> 4) {
            0 => i16::try_from(self.integer()?).map_err(|_| Broken::Kind)?,
            step => last.checked_add(step).ok_or(Broken::Kind)?,
        };
        Ok(Some((id, kind)))
    }

    /// The kind and number of a list's elements. Each takes at least a byte.
    fn list(&mut self) -> Result<(u8, usize), Broken> {
        let byte = self.byte()?;
        let elements = match usize::from(byte >> 4) {
            15 => usize::try_from(self.number()?).map_err(|_| Broken::Claims)?,
            few => few,
        };
        if elements > self.rest.len() {
            return Err(Broken::Claims);
        }
        Ok((byte & 0x0f, elements))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Result<(), Broken> {
        let depth = depth.checked_sub(1).ok_or(Broken::Depth)?;
        match kind {
            kind::TRUE | kind::FALSE => Ok(()),
            kind::BYTE => self.take(1),
            kind::I16 | kind::I32 | kind::I64 => self.number().map(|_| ()),
            kind::DOUBLE => self.take(8),
            kind::BINARY => {
                let length = usize::try_from(self.number()?).map_err(|_| Broken::Claims)?;
                self.take(length)
            }
            kind::LIST => {
                let (kind, elements) = self.list()?;
                for _ in 0..elements {
                    match kind {
                        // In a list, truth values take a byte.
                        kind::TRUE | kind::FALSE => self.take(1)?,
                        other => self.skip(other, depth)?,
                    }
                }
                Ok(())
            }
            kind::STRUCT => {
                let mut last = 0;
                while let Some((id, kind)) = self.field(last)? {
                    self.skip(kind, depth)?;
                    last = id;
                }
                Ok(())
            }
            // The protocol has sets and maps, but footers do not use them.
            _ => Err(Broken::Kind),
        }
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        let (&byte, rest) = self.rest.split_first().ok_or(Broken::CutOff)?;
        self.rest = rest;
        Ok(byte)
    }

    fn take(&mut self, bytes: usize) -> Result<(), Broken> {
        self.rest = self.rest.get(bytes..).ok_or(Broken::CutOff)?;
        Ok(())
    }

    /// A number with seven bits in each byte, the lowest first.
    fn number(&mut self) -> Result<u64, Broken> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Broken::Claims)
    }

    /// A number whose lowest bit is the sign.
    fn integer(&mut self) -> Result<i64, Broken> {
        let number = self.number()?;
        #[expect(clippy::cast_possible_wrap, reason = "half of a u64 fits")]
        let half = (number >> 1) as i64;
        Ok(if number & 1 == 0 { half } else { !half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_footer(footer: &[u8]) -> Result<(), Broken> {
        Thrift { rest: footer }.metadata()
    }

    #[test]
    fn a_list_of_more_entries_than_bytes_is_refused() {
        // Field 4, a list; 2^31 - 1 structs.
        let many = [0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00];
        assert_eq!(check_footer(&many), Err(Broken::Claims));
        // Field 4, a list of one empty struct; the end.
        assert_eq!(check_footer(&[0x49, 0x1c, 0x00, 0x00]), Ok(()));
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
        assert_eq!(check_footer(&chain(20)), Ok(()));
        assert_eq!(check_footer(&chain(120)), Err(Broken::Depth));
        let too_few = [0x29, 0x1c, 0x55, 0x04, 0x00, 0x00];
        assert_eq!(check_footer(&too_few), Err(Broken::Schema));
        let negative = [0x29, 0x1c, 0x55, 0x03, 0x00, 0x00];
        assert_eq!(check_footer(&negative), Err(Broken::Schema));
    }

    #[test]
    fn nesting_has_a_limit() {
        // Field 3, a list of one list of one list …
        let mut bytes = vec![0x39];
        bytes.extend([0x19; 100]);
        assert_eq!(check_footer(&bytes), Err(Broken::Depth));
        assert_eq!(check_footer(&[0x39, 0x1e, 0x00]), Err(Broken::Kind));
        assert_eq!(check_footer(&[0x38, 0x05, 0x41]), Err(Broken::CutOff));
    }
}
