//! A reader that computes the digest of what it read.

use std::fs::File;
use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// A file and the SHA-256 of its bytes so far.
pub(super) struct Digesting {
    file: File,
    digest: Sha256,
}

impl Digesting {
    pub(super) fn new(file: File) -> Self {
        Self {
            file,
            digest: Sha256::new(),
        }
    }

    /// Reads to the end of the file and returns its digest in hexadecimal digits.
    pub(super) fn finish(mut self) -> io::Result<String> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(hex::encode(self.digest.finalize()))
    }
}

impl Read for Digesting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.digest.update(&buffer[..read]);
        Ok(read)
    }
}
