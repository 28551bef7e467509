//! Reading parts of a file of weights.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{LocalError, WeightsError};
use crate::folder::open_file;

/// A file of weights, of which parts are read.
#[derive(Debug)]
pub(super) struct TensorFile {
    path: PathBuf,
    file: Mutex<File>,
    length: u64,
}

impl TensorFile {
    pub(super) fn open(path: PathBuf) -> Result<Self, LocalError> {
        let opened = open_file(&path);
        let (file, length) = opened.map_err(|source| LocalError::read(&path, source))?;
        Ok(Self {
            path,
            file: Mutex::new(file),
            length,
        })
    }

    /// The file itself, whose position any reader changes.
    pub(super) fn lock(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The size of the file in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The bytes from `start` on, `None` if the file ends before. It never allocates more than the file has.
    pub(super) fn bytes(&self, start: u64, length: u64) -> Result<Option<Vec<u8>>, LocalError> {
        let end = start.checked_add(length);
        if end.is_none_or(|end| end > self.length) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = self.read(start, length, &mut bytes);
        let read = read.map_err(|source| LocalError::read(&self.path, source))?;
        Ok((read as u64 == length).then_some(bytes))
    }

    fn read(&self, start: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let file = self.lock();
        let mut file = &*file;
        file.seek(SeekFrom::Start(start))?;
        // Allocates exactly once: a buffer that grows while it fills takes up to twice as much.
        bytes.try_reserve_exact(usize::try_from(length).unwrap_or(usize::MAX))?;
        file.take(length).read_to_end(bytes)
    }

    /// The error that names this file.
    pub(super) fn error(&self, source: WeightsError) -> LocalError {
        LocalError::Content {
            path: self.path.clone(),
            fault: "does not hold the weights that `config.json` describes",
            source: Box::new(source),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use tempfile::NamedTempFile;

    use super::*;

    #[test]
    fn no_more_is_allocated_than_is_read() {
        let mut written = NamedTempFile::new().unwrap();
        written.write_all(&vec![7; 100_000]).unwrap();
        let file = TensorFile::open(written.path().to_owned()).unwrap();
        let bytes = file.bytes(1_000, 70_001).unwrap().unwrap();
        assert_eq!((bytes.len(), bytes.capacity()), (70_001, 70_001));
        assert_eq!(file.bytes(50_000, 50_001).unwrap(), None);
        assert_eq!(file.bytes(1, u64::MAX).unwrap(), None);
    }
}
