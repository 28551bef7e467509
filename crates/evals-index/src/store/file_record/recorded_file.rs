//! The record of one file: its size and digest, and whether the file still matches.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::VERSIONS;
use super::error::{FileDefect, FileError, unreadable};

/// Bytes read at a time.
const BLOCK: usize = 1 << 18;

/// One file of a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedFile {
    /// Relative to the folder of the table, with `/` as separator.
    pub(super) path: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl RecordedFile {
    pub(super) fn is_version(&self) -> bool {
        self.path.starts_with(VERSIONS)
    }

    pub(super) fn check_size(&self, folder: &Path) -> Result<(), FileError> {
        let path = folder.join(&self.path);
        let found = match fs::metadata(&path) {
            Ok(found) if found.is_file() => found,
            Ok(_) => return Err(FileDefect::Missing(self.path.clone()).into()),
            Err(error) if is_absence(&error) => {
                return Err(FileDefect::Missing(self.path.clone()).into());
            }
            Err(error) => return Err(unreadable(&path)(error)),
        };
        if found.len() == self.bytes {
            return Ok(());
        }
        Err(FileError::Defect(FileDefect::Size {
            path: self.path.clone(),
            expected: self.bytes,
            actual: found.len(),
        }))
    }

    pub(super) fn has_changed(&self, folder: &Path) -> Result<bool, FileError> {
        let path = folder.join(&self.path);
        let (bytes, sha256) = digest(&path).map_err(unreadable(&path))?;
        Ok((bytes, &sha256) != (self.bytes, &self.sha256))
    }
}

impl fmt::Display for RecordedFile {
    /// The line that goes into the record's own digest.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {} {}", self.sha256, self.bytes, self.path)
    }
}

/// Whether a path leads nowhere, for instance because a part of it is not a folder.
pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Length and SHA-256 of a file.
pub(super) fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut sha256 = Sha256::new();
    let mut block = vec![0; BLOCK];
    let mut bytes = 0;
    loop {
        match file.read(&mut block) {
            Ok(0) => return Ok((bytes, hex::encode(sha256.finalize()))),
            Ok(read) => {
                sha256.update(&block[..read]);
                bytes += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
