//! The right to write to a store, whatever kind of store it is.

use super::bucket::Lease;
use super::folder_lock::FolderLock;
use crate::error::IndexError;

/// The right to write to a store, held by one process at a time.
#[derive(Debug)]
pub(crate) enum WriteLock {
    /// In a folder: the operating system releases it when the process ends.
    Folder {
        /// Keeps the lock until it is dropped.
        _lock: FolderLock,
    },
    /// In an object store.
    Lease(Lease),
    /// In memory, which no other process sees.
    Memory,
}

impl WriteLock {
    pub(super) fn of_folder(lock: FolderLock) -> Self {
        Self::Folder { _lock: lock }
    }

    /// Fails if another process may write by now. A process has to check this before it deletes a file of a table.
    ///
    /// Only a lease can be lost, by a process that was stopped for longer than it lasts.
    pub(crate) async fn check(&self) -> Result<(), IndexError> {
        match self {
            Self::Lease(lease) => lease.check().await,
            Self::Folder { .. } | Self::Memory => Ok(()),
        }
    }

    /// Gives the lock back.
    pub(crate) async fn release(self) {
        match self {
            Self::Lease(lease) => lease.release().await,
            Self::Folder { .. } | Self::Memory => {}
        }
    }
}
