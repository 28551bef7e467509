use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::local::error::{LocalError, WeightsError};

/// A file that holds tensors, read in pieces.
#[derive(Debug)]
pub(super) struct TensorFile {
    path: PathBuf,
    file: Mutex<File>,
    length: u64,
}

impl TensorFile {
    pub(super) fn open(path: PathBuf) -> Result<Self, LocalError> {
        let opened = File::open(&path).and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((length, file)) => Ok(Self {
                path,
                file: Mutex::new(file),
                length,
            }),
            Err(source) => Err(LocalError::Read { path, source }),
        }
    }

    /// Bytes in the file.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// The bytes from `start` on; `None` where the file ends before. Nothing is set aside for more than the file has.
    pub(super) fn bytes(&self, start: u64, length: u64) -> Result<Option<Vec<u8>>, LocalError> {
        let end = start.checked_add(length);
        if end.is_none_or(|end| end > self.length) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        let read = self.read(start, length, &mut bytes);
        let read = read.map_err(|source| LocalError::Read {
            path: self.path.clone(),
            source,
        })?;
        Ok((read as u64 == length).then_some(bytes))
    }

    fn read(&self, start: u64, length: u64, bytes: &mut Vec<u8>) -> io::Result<usize> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = &*file;
        file.seek(SeekFrom::Start(start))?;
        file.take(length).read_to_end(bytes)
    }

    /// The error that names this file.
    pub(super) fn error(&self, source: WeightsError) -> LocalError {
        LocalError::Weights {
            path: self.path.clone(),
            source,
        }
    }
}
