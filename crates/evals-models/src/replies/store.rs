use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::database::Database;
use super::{ReplyKey, ReplyStoreError, ReplyStoreStatistics};
use crate::{ChatReply, ModelIdentity};

/// Replies in an `SQLite` file that several processes may use at once. Clones use the same connection.
///
/// The file is read and written on the runtime's threads for blocking work, one access at a time.
#[derive(Clone, Debug)]
pub struct ReplyStore {
    path: Arc<Path>,
    database: Arc<Mutex<Database>>,
}

/// Which replies to remove.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prune {
    /// All of them.
    All,
    /// Those that were stored longer ago than that.
    OlderThan(Duration),
    /// Those of a model, by its name as identities show it (`provider:name`).
    Model(String),
}

/// What a removal did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Replies that were removed.
    pub entries: u64,
    /// By how many bytes the file became smaller.
    pub bytes: u64,
}

impl ReplyStore {
    /// Opens a file of replies, or makes it with its folder where there is none.
    ///
    /// A damaged file, and one that belongs to another program, is an error and stays as it is.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, ReplyStoreError> {
        let path: Arc<Path> = path.into().into();
        let opened = Arc::clone(&path);
        let database = spawn_blocking(move || Database::open(&opened)).await;
        let database = database.unwrap_or_else(|_| Err(stopped(&path)))?;
        Ok(Self {
            path,
            database: Arc::new(Mutex::new(database)),
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The reply stored under a key.
    pub async fn get(&self, key: ReplyKey) -> Result<Option<ChatReply>, ReplyStoreError> {
        self.access(move |database| database.get(&key)).await
    }

    /// Stores a reply of a model in place of what was stored under the key.
    ///
    /// When it returns, the reply outlives the process, however that ends.
    pub async fn put(
        &self,
        key: ReplyKey,
        model: &ModelIdentity,
        reply: ChatReply,
    ) -> Result<(), ReplyStoreError> {
        let model = model.to_string();
        self.access(move |database| database.put(&key, &model, &reply))
            .await
    }

    /// What the store holds.
    pub async fn statistics(&self) -> Result<ReplyStoreStatistics, ReplyStoreError> {
        self.access(Database::statistics).await
    }

    /// Removes replies and makes the file smaller.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, ReplyStoreError> {
        self.access(move |database| database.prune(&prune)).await
    }

    async fn access<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, ReplyStoreError> + Send + 'static,
    ) -> Result<T, ReplyStoreError> {
        let database = Arc::clone(&self.database).lock_owned().await;
        spawn_blocking(move || work(&database))
            .await
            .unwrap_or_else(|_| Err(stopped(&self.path)))
    }
}

fn stopped(path: &Path) -> ReplyStoreError {
    ReplyStoreError::Stopped {
        path: path.to_owned(),
    }
}
