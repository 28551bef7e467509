mod file_record;
mod files;
mod location;
mod lock;
mod settings;

use std::fmt;
use std::sync::Arc;

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
use crate::summary::TableSummary;
use crate::table;
use location::Location;
use lock::StoreLock;
use settings::remote;

pub use settings::StoreSettings;

pub(crate) use files::{Depth, FileCheck};

/// Memory for index structures that searches share. The engine's default is 6 GiB.
const INDEX_CACHE_BYTES: usize = 512 << 20;
/// Memory for file metadata. The engine's default is 1 GiB.
const METADATA_CACHE_BYTES: usize = 128 << 20;

/// A place that holds indexes: a folder, a bucket or a database in the cloud.
///
/// The engine's caches are capped at 640 MiB in all.
#[derive(Clone)]
pub struct Store {
    location: Location,
    settings: Arc<StoreSettings>,
    /// The engine makes a missing folder when it connects, so it does so only when there is one, or there is to be one.
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
    /// The store at `uri`: a folder, `s3://…` (feature `aws`), `db://…` (feature `remote`) or `memory://`. A folder may be given
    /// relative to the working directory, and need not be there: a build makes it, and reading says that it is missing.
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
        // What cannot be reached is known before anything is read for it.
        store.existing().await?;
        Ok(store)
    }

    /// The store's location, absolute where it is a folder.
    pub fn uri(&self) -> &str {
        self.location.uri()
    }

    /// The indexes in this store, by name, each with its differences from `settings`. A store that is not there has none.
    pub async fn tables(&self, settings: &Identity) -> Result<Vec<TableSummary>, IndexError> {
        let mut summaries = Vec::new();
        for name in self.names().await? {
            let summary = guarded(&self.address(&name), self.summary(&name, settings)).await;
            summaries.push(summary.unwrap_or_else(|_| TableSummary::unreadable(name)));
        }
        Ok(summaries)
    }

    /// Deletes the index with this identity. Returns whether there was one.
    pub async fn remove(&self, identity: &Identity) -> Result<bool, IndexError> {
        let Some(connection) = self.existing().await? else {
            return Ok(false);
        };
        let _lock = self.lock()?;
        let name = identity.table_name();
        let address = self.address(&name);
        let remove = async {
            if !self.names().await?.contains(&name) {
                return Ok(false);
            }
            connection
                .drop_table(&name, &[])
                .await
                .map_err(IndexError::during("delete the index"))?;
            Ok(true)
        };
        guarded(&address, remove).await
    }

    /// Whether there is a store; object stores and databases are taken to be there.
    pub(crate) fn exists(&self) -> Result<bool, IndexError> {
        self.location.exists()
    }

    /// Takes the right to write, and makes the folder to write to. Object stores have no such lock: there, one process at a time
    /// is the user's care.
    pub(crate) fn lock(&self) -> Result<Option<StoreLock>, IndexError> {
        self.location.create()?;
        self.location.folder().map(StoreLock::acquire).transpose()
    }

    /// As [`lock`](Self::lock), as soon as no other process has that right.
    pub(crate) async fn wait_for_lock(
        &self,
        waiting: impl Fn(&LockHolder),
    ) -> Result<Option<StoreLock>, IndexError> {
        self.location.create()?;
        let Some(folder) = self.location.folder() else {
            return Ok(None);
        };
        StoreLock::wait(folder, waiting).await.map(Some)
    }

    /// Creates the table of an index. The caller holds the lock.
    pub(crate) async fn create(&self, identity: &Identity) -> Result<Table, IndexError> {
        self.connection()
            .await?
            .create_empty_table(identity.table_name(), table::schema(identity))
            .execute()
            .await
            .map_err(IndexError::during("create the index"))
    }

    /// The table, or `None` where there is none, not even an unreadable one.
    pub(crate) async fn table(&self, name: &str) -> Result<Option<Table>, IndexError> {
        let Some(connection) = self.existing().await? else {
            return Ok(None);
        };
        match connection.open_table(name).execute().await {
            Ok(table) => Ok(Some(table)),
            Err(lancedb::Error::TableNotFound { .. }) => Ok(None),
            Err(source) => Err(IndexError::Unreadable {
                table: self.address(name),
                source: EngineError::new(source.into()),
            }),
        }
    }

    /// Reads of a table what says whether it is finished, after making sure that these files are as they were written.
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

    async fn summary(&self, name: &str, settings: &Identity) -> Result<TableSummary, IndexError> {
        let header = self.header(name).await?;
        Ok(TableSummary::of(name, header, settings))
    }

    /// The table and the store it is in, for messages.
    pub(crate) fn address(&self, table: &str) -> Address {
        Address::new(self.uri(), table)
    }

    /// The connection, unless there is nothing to connect to.
    async fn existing(&self) -> Result<Option<&Connection>, IndexError> {
        if self.exists()? {
            self.connection().await.map(Some)
        } else {
            Ok(None)
        }
    }

    async fn connection(&self) -> Result<&Connection, IndexError> {
        self.connection.get_or_try_init(|| self.connect()).await
    }

    async fn connect(&self) -> Result<Connection, IndexError> {
        let session = Session::new(
            INDEX_CACHE_BYTES,
            METADATA_CACHE_BYTES,
            Arc::new(ObjectStoreRegistry::default()),
        );
        let builder = lancedb::connect(self.uri())
            .session(Arc::new(session))
            .storage_options(self.settings.storage.clone());
        remote(builder, &self.settings)
            .execute()
            .await
            .map_err(IndexError::during("open the store"))
    }

    async fn names(&self) -> Result<Vec<String>, IndexError> {
        let Some(connection) = self.existing().await? else {
            return Ok(Vec::new());
        };
        let mut names = connection
            .table_names()
            .execute()
            .await
            .map_err(IndexError::during("list the indexes"))?;
        names.retain(|name| name.starts_with(NAME_PREFIX));
        names.sort_unstable();
        Ok(names)
    }
}
