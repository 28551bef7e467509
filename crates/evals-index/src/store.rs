use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use lancedb::table::Table;
use lancedb::{Connection, ObjectStoreRegistry, Session};
use tokio::sync::OnceCell;
use tokio::task;

use crate::address::Address;
use crate::completion::Completion;
use crate::file_record::{FileError, FileRecord};
use crate::guard::guarded;
use crate::location::Location;
use crate::lock::StoreLock;
use crate::{BuildObserver, EngineError, Identity, IndexError, TableSummary, table};

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

/// How to reach a store that is not a folder: what [`Store::open_with`] needs for `s3://` and `db://`.
///
/// All fields are empty by default, which leaves `s3://` to the environment (`AWS_ACCESS_KEY_ID`, `AWS_REGION` …). A folder needs
/// none of them. The values of secrets are left out of the `Debug` text.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use evals_index::StoreSettings;
///
/// let minio = StoreSettings {
///     storage: BTreeMap::from([
///         ("aws_endpoint".to_owned(), "http://localhost:9000".to_owned()),
///         ("allow_http".to_owned(), "true".to_owned()),
///     ]),
///     ..StoreSettings::default()
/// };
/// assert_eq!(minio.region, None);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StoreSettings {
    /// Key for `db://` stores.
    pub api_key: Option<String>,
    /// Region of `db://` stores. Default `us-east-1`.
    pub region: Option<String>,
    /// Address of an enterprise server, instead of the cloud.
    pub host: Option<String>,
    /// Options of object stores, such as `aws_region`, `aws_endpoint` and `allow_http` for `s3://`.
    pub storage: BTreeMap<String, String>,
}

/// What a table says of itself.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) completion: Option<Completion>,
    pub(crate) identity: Option<Identity>,
}

/// How much of a table's files is compared with their record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Names and sizes, and the contents of what says which files make up the table.
    Versions,
    /// The contents of all files.
    Contents,
}

/// What comparing the files of a table with their record came to. That they differ is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileCheck {
    /// They are as recorded.
    Passed,
    /// There is no record, or no table.
    NoRecord,
    /// The store is no folder.
    NotLocal,
}

impl FileCheck {
    /// Whether a table with this result is finished, as far as `completion` says it is.
    pub(crate) fn completes(self, completion: &Completion) -> bool {
        !completion.files_recorded || self != Self::NoRecord
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Store")
            .field("uri", &self.uri())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for StoreSettings {
    /// Leaves the key and the values of options, which may be secrets, out.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("StoreSettings")
            .field("region", &self.region)
            .field("host", &self.host)
            .field("storage", &self.storage.keys().collect::<Vec<_>>())
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
                .map_err(EngineError::during("delete the index"))?;
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
        observer: &dyn BuildObserver,
    ) -> Result<Option<StoreLock>, IndexError> {
        self.location.create()?;
        let Some(folder) = self.location.folder() else {
            return Ok(None);
        };
        let lock = StoreLock::wait(folder, |holder| observer.on_wait(holder));
        lock.await.map(Some)
    }

    /// Creates the table of an index. The caller holds the lock.
    pub(crate) async fn create(&self, identity: &Identity) -> Result<Table, IndexError> {
        self.connection()
            .await?
            .create_empty_table(identity.table_name(), table::schema(identity))
            .execute()
            .await
            .map_err(EngineError::during("create the index"))
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

    /// Compares the files of a table with their record.
    pub(crate) async fn check(&self, name: &str, depth: Depth) -> Result<FileCheck, IndexError> {
        let Some(folder) = self.table_folder(name) else {
            return Ok(FileCheck::NotLocal);
        };
        let checked = task::spawn_blocking(move || {
            let Some(record) = FileRecord::read(&folder)? else {
                return Ok(FileCheck::NoRecord);
            };
            match depth {
                Depth::Versions => record.check_versions(&folder)?,
                Depth::Contents => record.check(&folder)?,
            }
            Ok(FileCheck::Passed)
        });
        checked.await?.map_err(|error| self.file_error(name, error))
    }

    /// Records what the files of a finished table are, where the store is a folder. The caller holds the lock.
    pub(crate) async fn record_files(&self, name: &str) -> Result<(), IndexError> {
        let Some(folder) = self.table_folder(name) else {
            return Ok(());
        };
        let recorded = task::spawn_blocking(move || FileRecord::take(&folder)?.write(&folder));
        recorded
            .await?
            .map_err(|error| self.file_error(name, error))
    }

    /// Whether tables of this store have a record of their files. Object stores check what they keep and send themselves.
    pub(crate) fn records_files(&self) -> bool {
        self.location.folder().is_some()
    }

    fn table_folder(&self, name: &str) -> Option<PathBuf> {
        let folder = self.location.folder()?;
        Some(folder.join(format!("{name}.lance")))
    }

    fn file_error(&self, name: &str, error: FileError) -> IndexError {
        let table = self.address(name);
        match error {
            FileError::Defect(defect) => IndexError::Damaged {
                table,
                defect: defect.to_string(),
            },
            FileError::Unreadable { path, source } => IndexError::File {
                table,
                path,
                source,
            },
        }
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
            .map_err(EngineError::during("open the store"))
    }

    async fn names(&self) -> Result<Vec<String>, IndexError> {
        let Some(connection) = self.existing().await? else {
            return Ok(Vec::new());
        };
        let mut names = connection
            .table_names()
            .execute()
            .await
            .map_err(EngineError::during("list the indexes"))?;
        names.retain(|name| name.starts_with(table::NAME_PREFIX));
        names.sort_unstable();
        Ok(names)
    }
}

#[cfg(feature = "remote")]
fn remote(
    builder: lancedb::connection::ConnectBuilder,
    settings: &StoreSettings,
) -> lancedb::connection::ConnectBuilder {
    let builder = builder.region(settings.region.as_deref().unwrap_or("us-east-1"));
    let builder = match &settings.api_key {
        Some(key) => builder.api_key(key),
        None => builder,
    };
    match &settings.host {
        Some(host) => builder.host_override(host),
        None => builder,
    }
}

#[cfg(not(feature = "remote"))]
fn remote(
    builder: lancedb::connection::ConnectBuilder,
    _settings: &StoreSettings,
) -> lancedb::connection::ConnectBuilder {
    builder
}
