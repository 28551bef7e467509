//! The store of indexes: a folder or a bucket, and the tables in it.

mod bucket;
mod file_record;
mod files;
mod folder_lock;
mod location;
mod settings;
mod write_lock;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use lance::dataset::ReadParams;
use lancedb::table::Table;
use lancedb::{Connection, ObjectStoreRegistry, Session};
use tokio::sync::OnceCell;

use crate::address::Address;
use crate::engine_error::EngineError;
use crate::error::IndexError;
use crate::guard::guarded;
use crate::header::Header;
use crate::identity::Identity;
use crate::identity::NAME_PREFIX;
use crate::lock_holder::LockHolder;
use crate::retries::limited;
use crate::summary::TableSummary;
use crate::table;
use bucket::{Bucket, Fence, Lease, engine_options, in_time, list_limit, opening_limit};
use folder_lock::FolderLock;
use location::Location;

pub use settings::StoreSettings;

pub(crate) use files::{Depth, FileCheck};
pub(crate) use write_lock::WriteLock;

/// Memory for index structures that searches share. The engine's default is 6 GiB.
const INDEX_CACHE_BYTES: usize = 512 << 20;
/// Memory for file metadata. The engine's default is 1 GiB.
const METADATA_CACHE_BYTES: usize = 128 << 20;

/// The name of the table of bare vectors.
const BARE_VECTORS: &str = "vectors";

/// A place for indexes: a folder or a bucket.
///
/// The engine's caches are capped at 640 MiB in all.
#[derive(Clone)]
pub struct Store {
    location: Location,
    settings: Arc<StoreSettings>,
    /// Connecting creates a missing folder, so it waits until the folder exists or a build needs it.
    connection: Arc<OnceCell<Connection>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Store")
            .field("uri", &self.uri())
            .finish_non_exhaustive()
    }
}

impl Store {
    /// The store at `uri`: a folder, `memory://`, or with the feature `stores` `s3://…`, `az://…` or `gs://…`. A folder may be relative to the
    /// working directory. It need not exist: a build creates it, and opening an index in it fails.
    pub async fn open(uri: &str) -> Result<Self, IndexError> {
        Self::open_with(uri, &StoreSettings::default()).await
    }

    /// The store at `uri`, reached with credentials and options.
    pub async fn open_with(uri: &str, settings: &StoreSettings) -> Result<Self, IndexError> {
        let store = Self {
            location: Location::parse(uri)?,
            settings: Arc::new(settings.clone()),
            connection: Arc::default(),
        };
        // An unreachable store fails here, before documents are prepared for it.
        if store.location.is_bucket() {
            let limit = opening_limit(settings);
            let probe = async { Bucket::connect(uri, settings, limit).await?.probe().await };
            limited(limit, probe).await?;
        }
        store.existing().await?;
        Ok(store)
    }

    /// The store's location. The path of a folder is absolute.
    pub fn uri(&self) -> &str {
        self.location.uri()
    }

    /// Lists the indexes in this store by name, and compares each with `settings`. The list is empty if the store does not exist.
    pub async fn tables(&self, settings: &Identity) -> Result<Vec<TableSummary>, IndexError> {
        let mut summaries = Vec::new();
        for name in self.names().await? {
            let header = guarded(&self.address(&name), self.header(&name)).await;
            match header {
                // Some object stores list the folder of a deleted table for a while.
                Ok(None) if self.location.is_bucket() => {}
                Ok(header) => summaries.push(TableSummary::of(&name, header, settings)),
                Err(error) if error.store_fault().is_some() => return Err(error),
                Err(_) => summaries.push(TableSummary::unreadable(name)),
            }
        }
        Ok(summaries)
    }

    /// Deletes the index with this identity, and the indexes of its vectors. Returns whether it existed.
    ///
    /// Fails with [`IndexError::Busy`] if another process writes to the store.
    pub async fn remove(&self, identity: &Identity) -> Result<bool, IndexError> {
        if self.existing().await?.is_none() {
            return Ok(false);
        }
        let lock = self.lock(None).await?;
        let name = identity.table_name();
        let address = self.address(&name);
        let remove = async {
            let is_listed = self.names().await?.contains(&name);
            // Some object stores list the folder of a deleted table for a while.
            if !is_listed || (self.location.is_bucket() && self.table(&name).await?.is_none()) {
                return Ok(false);
            }
            for name in self.vector_tables(identity).await? {
                self.drop_table(&name, &lock).await?;
            }
            self.drop_table(&name, &lock).await?;
            Ok(true)
        };
        let removed = guarded(&address, remove).await;
        lock.release().await;
        removed
    }

    /// Creates a small object twice, lists it and deletes it, as a build does with its lease: the second request has to fail. Fails as the
    /// build would.
    ///
    /// If the store fails to delete the object, the error names it. Nothing is tried in a folder or in memory.
    pub async fn try_writing(&self) -> Result<(), IndexError> {
        if !self.location.is_bucket() {
            return Ok(());
        }
        let limit = opening_limit(&self.settings);
        let trial = async {
            let bucket = Bucket::connect(self.uri(), &self.settings, limit).await?;
            bucket.try_writing().await
        };
        limited(limit, trial).await
    }

    /// Whether the store has an index, finished or not.
    pub async fn has_indexes(&self) -> Result<bool, IndexError> {
        Ok(!self.names().await?.is_empty())
    }

    /// Whether the store exists. Assumes that an object store does.
    pub(crate) fn exists(&self) -> Result<bool, IndexError> {
        self.location.exists()
    }

    /// Takes the lock for writing, and creates the folder. In an object store, also tests that the store supports `If-None-Match`.
    ///
    /// If another process holds the lock, calls `waiting` with it and waits; without `waiting`, fails.
    pub(crate) async fn lock(
        &self,
        waiting: Option<&(dyn Fn(&LockHolder) + Sync)>,
    ) -> Result<WriteLock, IndexError> {
        self.location.create()?;
        if let Some(folder) = self.location.folder() {
            return Ok(WriteLock::of_folder(match waiting {
                Some(waiting) => FolderLock::wait(folder, waiting).await?,
                None => FolderLock::acquire(folder)?,
            }));
        }
        if !self.location.is_bucket() {
            return Ok(WriteLock::Memory);
        }
        let (settings, limit) = (&self.settings, self.settings.retry_for);
        let bucket = Bucket::connect(self.uri(), settings, limit).await?;
        Ok(WriteLock::Lease(match waiting {
            Some(waiting) => Lease::wait(&bucket, waiting).await?,
            None => Lease::acquire(&bucket).await?,
        }))
    }

    /// Creates the table of an index. The caller holds the lock.
    pub(crate) async fn create(&self, identity: &Identity) -> Result<Table, IndexError> {
        let created = self
            .connection()
            .await?
            .create_empty_table(identity.table_name(), table::schema(identity))
            .execute()
            .await
            .map_err(IndexError::during("create the index"))?;
        self.fenced(created).await
    }

    /// The table for a build, which holds the lock; `None` if it does not exist. In an object store, the table refuses commits after another
    /// process has written to it.
    pub(crate) async fn table_for_writing(&self, name: &str) -> Result<Option<Table>, IndexError> {
        match self.table(name).await? {
            Some(table) => self.fenced(table).await.map(Some),
            None => Ok(None),
        }
    }

    async fn fenced(&self, table: Table) -> Result<Table, IndexError> {
        if !self.location.is_bucket() {
            return Ok(table);
        }
        let version = table
            .version()
            .await
            .map_err(IndexError::during("read the version of the index"))?;
        let params = ReadParams {
            commit_handler: Some(Arc::new(Fence::after(version))),
            ..ReadParams::default()
        };
        let open = self.connection().await?.open_table(table.name());
        open.lance_read_params(params)
            .execute()
            .await
            .map_err(IndexError::during("open the index for writing"))
    }

    /// Creates the store's only table of bare vectors.
    pub(crate) async fn create_vectors(&self, schema: SchemaRef) -> Result<Table, IndexError> {
        self.location.create()?;
        self.connection()
            .await?
            .create_empty_table(BARE_VECTORS, schema)
            .execute()
            .await
            .map_err(IndexError::during("create the table of the vectors"))
    }

    /// The table of bare vectors.
    pub(crate) async fn vectors(&self) -> Result<Table, IndexError> {
        self.connection()
            .await?
            .open_table(BARE_VECTORS)
            .execute()
            .await
            .map_err(IndexError::during("open the table of the vectors"))
    }

    /// Creates a table whose rows are in the files of `rows`, another table of this store. Fails if the lock is lost.
    pub(crate) async fn clone_table(
        &self,
        rows: &Table,
        name: &str,
        lock: &WriteLock,
    ) -> Result<Table, IndexError> {
        lock.check().await?;
        let connection = self.connection().await?;
        // `Connection::clone_table` opens the new table without the options of the store, which fails in an object store.
        let clone = async {
            let mut rows = table::dataset(rows).await?.as_ref().clone();
            let version = rows.version().version;
            let target = self.address(name).folder();
            rows.shallow_clone(&target, version, None).await?;
            connection.open_table(name).execute().await
        };
        let cloned = clone
            .await
            .map_err(IndexError::during("create the table of the vectors"))?;
        self.fenced(cloned).await
    }

    /// Deletes a table if it exists. Fails if the lock is lost.
    pub(crate) async fn drop_table(&self, name: &str, lock: &WriteLock) -> Result<(), IndexError> {
        lock.check().await?;
        match self.connection().await?.drop_table(name, &[]).await {
            Ok(()) | Err(lancedb::Error::TableNotFound { .. }) => Ok(()),
            Err(source) => Err(IndexError::during("delete the index")(source)),
        }
    }

    /// The table; `None` if it does not exist. An unreadable table is an error.
    pub(crate) async fn table(&self, name: &str) -> Result<Option<Table>, IndexError> {
        let Some(connection) = self.existing().await? else {
            return Ok(None);
        };
        match connection.open_table(name).execute().await {
            Ok(table) => Ok(Some(table)),
            Err(lancedb::Error::TableNotFound { .. }) => Ok(None),
            Err(source) => Err(IndexError::unreadable(
                self.address(name),
                EngineError::new(source.into()),
            )),
        }
    }

    /// Reads the header of a table, after checking that the files it comes from are unchanged.
    pub(crate) async fn header(&self, name: &str) -> Result<Option<Header>, IndexError> {
        let check = self.check(name, Depth::Versions).await?;
        let Some(table) = self.table(name).await? else {
            return Ok(None);
        };
        Ok(Some(Header {
            completion: table::completion(&table)
                .await?
                .filter(|it| check.completes(it)),
            identity: table::identity(&table).await?,
        }))
    }

    /// The table and its store, for messages.
    pub(crate) fn address(&self, table: &str) -> Address {
        Address::new(self.uri(), table)
    }

    /// The connection; `None` if the store does not exist.
    async fn existing(&self) -> Result<Option<&Connection>, IndexError> {
        if self.exists()? {
            self.connection().await.map(Some)
        } else {
            Ok(None)
        }
    }

    /// The connection, which creates the store's folder if it does not exist.
    pub(crate) async fn connection(&self) -> Result<&Connection, IndexError> {
        self.connection.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<Connection, IndexError> {
        let session = Session::new(
            INDEX_CACHE_BYTES,
            METADATA_CACHE_BYTES,
            Arc::new(ObjectStoreRegistry::default()),
        );
        let options = if self.location.is_bucket() {
            engine_options(&self.settings)
        } else {
            HashMap::new()
        };
        lancedb::connect(self.uri())
            .session(Arc::new(session))
            .storage_options(options)
            .execute()
            .await
            .map_err(IndexError::during("open the store"))
    }

    async fn names(&self) -> Result<Vec<String>, IndexError> {
        self.names_with(NAME_PREFIX).await
    }

    /// The tables of the vector indexes of an index.
    async fn vector_tables(&self, identity: &Identity) -> Result<Vec<String>, IndexError> {
        self.names_with(&identity.vectors_prefix()).await
    }

    /// The tables with this prefix, sorted.
    pub(crate) async fn names_with(&self, prefix: &str) -> Result<Vec<String>, IndexError> {
        let Some(connection) = self.existing().await? else {
            return Ok(Vec::new());
        };
        let limit = list_limit(&self.settings, self.settings.retry_for);
        let list = connection.table_names().execute();
        let mut names = in_time(self.uri(), limit, list)
            .await?
            .map_err(IndexError::during("list the indexes"))
            .map_err(|error| error.in_store(self.uri()))?;
        names.retain(|name| name.starts_with(prefix));
        names.sort_unstable();
        Ok(names)
    }
}
