//! What has arrived of a file.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::HubError;
use super::cache::remove;
use super::tree::ListedFile;

/// The part of a blob that has arrived. It stays when a run ends, and the next one goes on from there.
///
/// A name of its own beside the blob: the official clients would continue an `.incomplete` file, whatever it holds.
#[derive(Debug)]
pub(super) struct Partial {
    pub(super) path: PathBuf,
    /// Whether a digest tells in the end that all parts belong together. Files without one are small.
    has_digest: bool,
}

impl Partial {
    /// The part of a file that is there; what is longer than the file is removed.
    pub(super) fn new(blob: &Path, file: &ListedFile) -> Result<Self, HubError> {
        let mut name = blob.as_os_str().to_owned();
        name.push(".partial");
        let partial = Self {
            path: PathBuf::from(name),
            has_digest: file.sha256.is_some(),
        };
        if partial.length() > file.size {
            partial.discard()?;
        }
        Ok(partial)
    }

    /// Bytes there are.
    pub(super) fn length(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// Bytes that a transfer may go on from.
    pub(super) fn resumable(&self) -> u64 {
        if self.has_digest { self.length() } else { 0 }
    }

    /// Writes from `begins_at` on, which is where the part ends, or 0 to start over.
    pub(super) fn writer(&self, begins_at: u64) -> Result<File, HubError> {
        let file = if begins_at == 0 {
            File::create(&self.path)
        } else {
            File::options().append(true).open(&self.path)
        };
        file.map_err(|source| self.failed(source))
    }

    /// The file is whole: it becomes the blob.
    pub(super) fn keep_as(&self, blob: &Path) -> Result<(), HubError> {
        std::fs::rename(&self.path, blob).map_err(|source| HubError::Cache {
            path: blob.to_owned(),
            source,
        })
    }

    /// Removes what is no part of the file.
    pub(super) fn discard(&self) -> Result<(), HubError> {
        remove(&self.path).map_err(|source| self.failed(source))
    }

    pub(super) fn failed(&self, source: io::Error) -> HubError {
        HubError::Cache {
            path: self.path.clone(),
            source,
        }
    }
}
