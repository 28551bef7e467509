//! The bytes of a pickle, read from front to back.

use super::damaged;
use crate::error::WeightsError;

/// The bytes that are not read yet.
#[derive(Debug)]
pub(super) struct Bytes<'p>(pub(super) &'p [u8]);

impl<'p> Bytes<'p> {
    pub(super) fn byte(&mut self) -> Result<u8, WeightsError> {
        self.array().map(|[byte]| byte)
    }

    pub(super) fn array<const LENGTH: usize>(&mut self) -> Result<[u8; LENGTH], WeightsError> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(*bytes)
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'p [u8], WeightsError> {
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(cut_off)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// A length of four bytes.
    pub(super) fn length(&mut self) -> Result<usize, WeightsError> {
        let length = u32::from_le_bytes(self.array()?);
        usize::try_from(length).map_err(|_| cut_off())
    }

    /// The text up to the next line end.
    pub(super) fn line(&mut self) -> Result<String, WeightsError> {
        let end = self.0.iter().position(|byte| *byte == b'\n');
        let line = self.take(end.ok_or_else(cut_off)?)?;
        let line = String::from_utf8_lossy(line).into_owned();
        self.take(1)?;
        Ok(line)
    }

    /// A number of `length` bytes in little-endian order, whose highest bit is the sign.
    pub(super) fn signed(&mut self, length: u8) -> Result<i64, WeightsError> {
        let bytes = self.take(usize::from(length))?;
        let negative = bytes.last().is_some_and(|byte| *byte >= 0x80);
        let mut full = [if negative { 0xff } else { 0 }; 8];
        let Some(low) = full.get_mut(..bytes.len()) else {
            return Err(damaged("it has a number of more than 64 bits"));
        };
        low.copy_from_slice(bytes);
        Ok(i64::from_le_bytes(full))
    }
}

fn cut_off() -> WeightsError {
    damaged("it is cut off")
}
