use std::path::{Path, PathBuf};

use super::ReplyKey;
use super::database::{self, REPLIES};
use crate::store::{Handle, Prune, Pruned, StoreError, StoreStatistics, Watch, Writes};
use evals_models::{ChatReply, ModelIdentity};

/// Replies in an `SQLite` file that several processes may use at once. Clones use the same connection.
///
/// The file is read and written on the runtime's threads for blocking work, one access at a time.
#[derive(Clone, Debug)]
pub struct ReplyStore(Handle);

impl ReplyStore {
    /// Opens a file of replies, or makes it with its folder where there is none.
    ///
    /// A damaged file, and one that belongs to another program, is an error and stays as it is.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Handle::open(path.into(), &REPLIES, None).await.map(Self)
    }

    /// The same, with somebody who is told when another process keeps the file locked.
    pub async fn open_watched(path: impl Into<PathBuf>, watch: Watch) -> Result<Self, StoreError> {
        let opened = Handle::open(path.into(), &REPLIES, Some(watch)).await;
        opened.map(Self)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The reply stored under a key.
    pub async fn get(&self, key: ReplyKey) -> Result<Option<ChatReply>, StoreError> {
        self.0.access(move |file| database::get(file, &key)).await
    }

    /// Stores a reply of a model in place of what was stored under the key, even if the caller stops waiting meanwhile.
    ///
    /// When it returns, the reply outlives the process, however that ends.
    pub async fn put(
        &self,
        key: ReplyKey,
        model: &ModelIdentity,
        reply: ChatReply,
    ) -> Result<(), StoreError> {
        let model = model.to_string();
        self.0
            .write(move |file| database::put(file, &key, &model, &reply))
            .await
    }

    /// What is being written to the store.
    pub fn writes(&self) -> &Writes {
        self.0.writes()
    }

    /// What the store holds.
    pub async fn statistics(&self) -> Result<StoreStatistics, StoreError> {
        self.0.statistics().await
    }

    /// Removes replies and makes the file smaller.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, StoreError> {
        self.0.prune(prune).await
    }
}
