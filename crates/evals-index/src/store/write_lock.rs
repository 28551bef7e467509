//! The right to write to a store of any kind.

use super::bucket::Lease;
use super::folder_lock::FolderLock;
use crate::error::IndexError;

/// The right to write to a store, held by one process at a time.
#[derive(Debug)]
pub(crate) enum WriteLock {
    /// In a folder: the operating system releases it when the process ends.
    Folder {
        /// Dropping it releases the lock.
        _lock: FolderLock,
    },
    /// In an object store.
    Lease(Lease),
    /// In memory: no other process sees the store.
    Memory,
}

impl WriteLock {
    pub(super) fn of_folder(lock: FolderLock) -> Self {
        Self::Folder { _lock: lock }
    }

    /// Fails if another process may write now. A process has to check this before it deletes a file of a table.
    ///
    /// A process loses its lease if, for longer than the lease lasts, it was suspended or cut off from a store that other processes reach.
    pub(crate) async fn check(&self) -> Result<(), IndexError> {
        match self {
            Self::Lease(lease) => lease.check().await,
            Self::Folder { .. } | Self::Memory => Ok(()),
        }
    }

    /// Releases the lock.
    pub(crate) async fn release(self) {
        match self {
            Self::Lease(lease) => lease.release().await,
            Self::Folder { .. } | Self::Memory => {}
        }
    }
}
