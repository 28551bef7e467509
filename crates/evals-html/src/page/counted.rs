//! Counts the bytes of a file while it is written.

use std::io::{self, Write};

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
