//! The cases and passages of a page, block by block. A block is JSON, compressed, as Base64 in an element of its own.

use std::io::{self, Write};

use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;

use super::passages::Passages;
use super::{BLOCK, Case, PageError, Passage};

/// Fixed, because it decides about the bytes of the file.
const LEVEL: u32 = 6;

/// Collects cases and passages into blocks and writes each block as soon as it is full.
pub(super) struct Body<'o, W> {
    out: &'o mut Counted<W>,
    passages_until: u64,
    passages: Passages,
    passages_left_out: usize,
    unwritten: Vec<Case<Option<usize>>>,
    written_blocks: usize,
}

impl<'o, W: Write> Body<'o, W> {
    pub(super) fn new(out: &'o mut Counted<W>, passages_until: u64) -> Self {
        Self {
            out,
            passages_until,
            passages: Passages::default(),
            passages_left_out: 0,
            unwritten: Vec::with_capacity(BLOCK),
            written_blocks: 0,
        }
    }

    pub(super) fn out(&mut self) -> &mut Counted<W> {
        self.out
    }

    pub(super) fn add(&mut self, case: Case) -> Result<(), PageError> {
        let case = case.with_passages(|passage| self.number(passage))?;
        self.unwritten.push(case);
        if self.unwritten.len() == BLOCK {
            self.write_cases()?;
        }
        Ok(())
    }

    /// Writes what is left, and returns how many passages the file has, and how many it lacks.
    pub(super) fn finish(mut self) -> Result<(usize, usize), PageError> {
        if !self.unwritten.is_empty() {
            self.write_cases()?;
        }
        self.write_passages()?;
        Ok((self.passages.len(), self.passages_left_out))
    }

    /// The number of a passage; `None` if the file is too large for another one.
    fn number(&mut self, passage: Passage) -> Result<Option<usize>, PageError> {
        if let Some(number) = self.passages.known(&passage) {
            return Ok(Some(number));
        }
        if self.out.bytes() >= self.passages_until {
            self.passages_left_out += 1;
            return Ok(None);
        }
        let number = self.passages.add(passage);
        if self.passages.fill_a_block() {
            self.write_passages()?;
        }
        Ok(Some(number))
    }

    fn write_cases(&mut self) -> Result<(), PageError> {
        let id = format!("cases-{}", self.written_blocks);
        write_block(&id, &self.unwritten, self.out)?;
        self.unwritten.clear();
        self.written_blocks += 1;
        Ok(())
    }

    fn write_passages(&mut self) -> Result<(), PageError> {
        match self.passages.take_block() {
            Some((number, passages)) => {
                write_block(&format!("passages-{number}"), &passages, self.out)
            }
            None => Ok(()),
        }
    }
}

/// Writes a value into an element with this id. Base64 has no `<`, so no text can end the element.
pub(super) fn write_block(
    id: &str,
    value: &impl Serialize,
    out: &mut impl Write,
) -> Result<(), PageError> {
    write!(out, r#"<script type="text/plain" id="{id}">"#)?;
    let json = serde_json::to_vec(value)?;
    let encoder = EncoderWriter::new(&mut *out, &STANDARD);
    let mut deflate = DeflateEncoder::new(encoder, Compression::new(LEVEL));
    deflate.write_all(&json)?;
    finish(deflate)?;
    out.write_all(b"</script>\n")?;
    Ok(())
}

fn finish<W: Write>(
    deflate: DeflateEncoder<EncoderWriter<'_, GeneralPurpose, W>>,
) -> io::Result<()> {
    let mut encoder = deflate.finish()?;
    encoder.finish()?;
    Ok(())
}

/// A writer that knows how much it has written.
#[derive(Debug)]
pub(super) struct Counted<W> {
    inner: W,
    bytes: u64,
}

impl<W> Counted<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, bytes: 0 }
    }

    /// The bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(buffer)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
