//! The part of a file that has arrived.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::HubError;
use super::cache::remove;
use super::tree::ListedFile;

/// The part of a blob that has arrived. It stays when a run ends, and the next run resumes there.
///
/// Its name is not `.incomplete`, because the official clients would resume a file of that name, whatever its content.
#[derive(Debug)]
pub(super) struct Partial {
    pub(super) path: PathBuf,
    /// Whether a digest proves in the end that all parts belong together. Files without a digest are small.
    has_digest: bool,
}

impl Partial {
    /// Finds the part of a file. A part longer than the file is removed.
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

    /// Number of bytes that have arrived.
    pub(super) fn length(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// The offset at which a transfer may resume.
    pub(super) fn resumable(&self) -> u64 {
        if self.has_digest { self.length() } else { 0 }
    }

    /// A writer at `begins_at`, which is the end of the part, or 0 to start over.
    pub(super) fn writer(&self, begins_at: u64) -> Result<File, HubError> {
        let file = if begins_at == 0 {
            File::create(&self.path)
        } else {
            File::options().append(true).open(&self.path)
        };
        file.map_err(|source| self.failed(source))
    }

    /// Renames the complete file to the blob.
    pub(super) fn keep_as(&self, blob: &Path) -> Result<(), HubError> {
        std::fs::rename(&self.path, blob).map_err(HubError::cache(blob))
    }

    /// Removes the part.
    pub(super) fn discard(&self) -> Result<(), HubError> {
        remove(&self.path).map_err(|source| self.failed(source))
    }

    pub(super) fn failed(&self, source: io::Error) -> HubError {
        HubError::cache(&self.path)(source)
    }
}
