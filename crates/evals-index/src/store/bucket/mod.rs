//! The part of an object store that holds a database. The lease reads and writes single objects of it.

mod claim;
mod fence;
mod lease;
mod options;
mod trial;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lance_io::object_store::{ObjectStore, ObjectStoreParams, StorageOptionsAccessor};
use lancedb::ObjectStoreRegistry;
use object_store::path::Path;
use object_store::{ListResult, ObjectStoreExt, PutMode, PutOptions, PutPayload};
use tokio::time::timeout;

use crate::engine_error::EngineError;
use crate::error::IndexError;
use crate::store::StoreSettings;

pub(super) use fence::Fence;
pub(super) use lease::Lease;
pub(super) use options::{engine_options, list_limit, opening_limit};

/// A bucket or container, and the prefix of the database in it.
#[derive(Clone)]
pub(super) struct Bucket {
    uri: String,
    store: Arc<dyn object_store::ObjectStore>,
    prefix: Path,
    /// How long a list may take.
    list_limit: Duration,
}

impl fmt::Debug for Bucket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Bucket")
            .field("uri", &self.uri)
            .finish_non_exhaustive()
    }
}

/// The outcome of creating an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Creation {
    /// The object is new.
    Created,
    /// An object with this name exists already, and is unchanged.
    Present,
}

impl Bucket {
    /// Prepares requests that are repeated for `retry_for`. Sends a request only to find the region of a bucket at AWS.
    pub(super) async fn connect(
        uri: &str,
        settings: &StoreSettings,
        retry_for: Duration,
    ) -> Result<Self, IndexError> {
        let options = options::options(settings, retry_for);
        let params = ObjectStoreParams {
            storage_options_accessor: Some(Arc::new(StorageOptionsAccessor::with_static_options(
                options,
            ))),
            ..ObjectStoreParams::default()
        };
        let registry = Arc::new(ObjectStoreRegistry::default());
        let (store, prefix) = ObjectStore::from_uri_and_params(registry, uri, &params)
            .await
            .map_err(|source| IndexError::Store {
                uri: uri.to_owned(),
                source: EngineError::new(source.into()),
            })?;
        Ok(Self {
            uri: uri.to_owned(),
            store: store.inner.clone(),
            prefix,
            list_limit: list_limit(settings, retry_for),
        })
    }

    /// Lists the prefix once. Fails if the bucket does not exist, if the keys may not list it, or if the store does not answer.
    pub(super) async fn probe(&self) -> Result<(), IndexError> {
        self.list(&self.prefix).await.map(drop)
    }

    /// Lists the objects and folders in a folder, by its path in the bucket.
    async fn list(&self, folder: &Path) -> Result<ListResult, IndexError> {
        let list = self.store.list_with_delimiter(Some(folder));
        let listed = in_time(&self.uri, self.list_limit, list).await?;
        listed.map_err(|source| self.failed(source))
    }

    /// The address of an object, for messages.
    pub(super) fn address(&self, name: &str) -> String {
        format!("{}/{name}", self.uri.trim_end_matches('/'))
    }

    /// Writes an object that must not exist yet.
    async fn create(&self, name: &str, content: Vec<u8>) -> Result<Creation, IndexError> {
        let options = PutOptions {
            mode: PutMode::Create,
            ..PutOptions::default()
        };
        let payload = PutPayload::from(content);
        match self
            .store
            .put_opts(&self.path(name), payload, options)
            .await
        {
            Ok(_) => Ok(Creation::Created),
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. },
            ) => Ok(Creation::Present),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// Writes an object, whether it exists or not.
    async fn put(&self, name: &str, content: Vec<u8>) -> Result<(), IndexError> {
        let put = self
            .store
            .put(&self.path(name), PutPayload::from(content))
            .await;
        put.map(drop).map_err(|source| self.failed(source))
    }

    /// The content of an object; `None` if it does not exist.
    async fn get(&self, name: &str) -> Result<Option<Vec<u8>>, IndexError> {
        let read = async { self.store.get(&self.path(name)).await?.bytes().await };
        match read.await {
            Ok(content) => Ok(Some(content.to_vec())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// Deletes an object, if it exists.
    async fn delete(&self, name: &str) -> Result<(), IndexError> {
        match self.store.delete(&self.path(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(source) => Err(self.failed(source)),
        }
    }

    /// The names of the objects in a folder of the database, without the folder.
    async fn names(&self, folder: &str) -> Result<Vec<String>, IndexError> {
        let listed = self.list(&self.path(folder)).await?;
        let objects = listed.objects.iter();
        Ok(objects
            .filter_map(|object| object.location.filename().map(str::to_owned))
            .collect())
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.prefix.clone(), Path::join)
    }

    fn lists_wrongly(&self, fault: String) -> IndexError {
        let uri = self.uri.clone();
        IndexError::Listing { uri, fault }
    }

    /// The error for a list that leaves out an object which exists.
    fn leaves_out(&self, name: &str) -> IndexError {
        let object = self.address(name);
        self.lists_wrongly(format!("it has `{object}`, and does not list it"))
    }

    fn failed(&self, source: object_store::Error) -> IndexError {
        IndexError::Store {
            uri: self.uri.clone(),
            source: EngineError::new(Box::new(source)),
        }
    }
}

/// Waits for a list, and fails if it takes longer than `limit`: a store may begin another page for ever.
pub(super) async fn in_time<T>(
    uri: &str,
    limit: Duration,
    list: impl Future<Output = T>,
) -> Result<T, IndexError> {
    timeout(limit, list).await.map_err(|_| IndexError::Listing {
        uri: uri.to_owned(),
        fault: format!("after {} s, a list has still more pages", limit.as_secs()),
    })
}
