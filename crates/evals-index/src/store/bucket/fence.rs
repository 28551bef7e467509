//! Refuses commits to a table that another process has written to since this one opened it.

use std::sync::Mutex;

use async_trait::async_trait;
use lance_core::Error;
use lance_io::object_store::ObjectStore;
use lance_table::format::{IndexMetadata, Manifest, Transaction};
use lance_table::io::commit::{
    CommitError, CommitHandler, ConditionalPutCommitHandler, ManifestLocation,
    ManifestNamingScheme, ManifestWriter,
};
use lance_table::io::manifest::read_manifest;
use object_store::path::Path;

use crate::store_fault::OtherWriter;

/// Commits as the engine does for an object store, but refuses a version that does not directly follow the last version of this process.
///
/// The engine would append the rows of a second writer to the rows of the first, and the table would have documents twice. A
/// [`Lease`](super::Lease) prevents two writers at a time, unless one of them was suspended or cut off from the store for longer than a lease lasts.
#[derive(Debug)]
pub(in crate::store) struct Fence {
    last: Mutex<Last>,
}

/// The last commit of this process.
#[derive(Debug, Clone)]
enum Last {
    /// The table has this version; 0 if it does not exist.
    Version(u64),
    /// The commit of this version, with this transaction, failed, but the store may have it.
    Unsure {
        version: u64,
        transaction: Option<String>,
    },
}

impl Fence {
    /// A fence for a table at `version`; 0 for a table that does not exist.
    pub(in crate::store) fn after(version: u64) -> Self {
        Self {
            last: Mutex::new(Last::Version(version)),
        }
    }

    fn last(&self) -> Last {
        self.last
            .lock()
            .expect("nothing panics with the lock")
            .clone()
    }

    fn set(&self, last: Last) {
        *self.last.lock().expect("nothing panics with the lock") = last;
    }

    /// Whether the version before `next` is the last one of this process.
    async fn follows(
        &self,
        next: u64,
        base_path: &Path,
        object_store: &ObjectStore,
        naming_scheme: ManifestNamingScheme,
    ) -> Result<bool, Error> {
        match self.last() {
            Last::Version(version) => Ok(next == version + 1),
            Last::Unsure { version, .. } if next == version => Ok(true),
            Last::Unsure {
                version,
                transaction,
            } if next == version + 1 => {
                let path = naming_scheme.manifest_path(base_path, version);
                let written = read_manifest(object_store, &path, None).await?;
                Ok(transaction.is_some() && written.transaction_file == transaction)
            }
            Last::Unsure { .. } => Ok(false),
        }
    }
}

#[async_trait]
impl CommitHandler for Fence {
    fn is_version_not_found_definitive(&self) -> bool {
        ConditionalPutCommitHandler.is_version_not_found_definitive()
    }

    fn propagate_commit_error_after_success(&self) -> bool {
        ConditionalPutCommitHandler.propagate_commit_error_after_success()
    }

    async fn commit(
        &self,
        manifest: &mut Manifest,
        indices: Option<Vec<IndexMetadata>>,
        base_path: &Path,
        object_store: &ObjectStore,
        manifest_writer: ManifestWriter,
        naming_scheme: ManifestNamingScheme,
        transaction: Option<Transaction>,
    ) -> Result<ManifestLocation, CommitError> {
        let version = manifest.version;
        if !self
            .follows(version, base_path, object_store, naming_scheme)
            .await?
        {
            return Err(CommitError::OtherError(Error::io_source(Box::new(
                OtherWriter,
            ))));
        }
        let committed = ConditionalPutCommitHandler
            .commit(
                manifest,
                indices,
                base_path,
                object_store,
                manifest_writer,
                naming_scheme,
                transaction,
            )
            .await;
        self.set(match committed {
            Ok(_) => Last::Version(version),
            Err(_) => Last::Unsure {
                version,
                transaction: manifest.transaction_file.clone(),
            },
        });
        committed
    }
}
