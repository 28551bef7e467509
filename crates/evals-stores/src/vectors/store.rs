use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::EmbeddingKey;
use super::database::{self, VECTORS};
use crate::store::{Handle, Prune, Pruned, StoreError, StoreStatistics, Watch, Writes};

/// Vectors in an `SQLite` file that several processes may use at once. Clones use the same connection.
///
/// The file is read and written on the runtime's threads for blocking work, one access at a time.
#[derive(Clone, Debug)]
pub struct EmbeddingStore(Handle);

/// A vector as it was computed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVector {
    /// Its components, to the last bit.
    pub values: Vec<f32>,
    /// How long the model took for it; an equal share of the time of a call for several texts.
    pub took: Duration,
    /// Whether the model read only the beginning of the text. `None` where it did not tell, and where an earlier version stored it.
    pub cut: Option<bool>,
}

impl EmbeddingStore {
    /// Opens a file of vectors, or makes it with its folder where there is none.
    ///
    /// A damaged file, and one that belongs to another program, is an error and stays as it is.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Handle::open(path.into(), &VECTORS, None).await.map(Self)
    }

    /// The same, with somebody who is told when another process keeps the file locked.
    pub async fn open_watched(path: impl Into<PathBuf>, watch: Watch) -> Result<Self, StoreError> {
        let opened = Handle::open(path.into(), &VECTORS, Some(watch)).await;
        opened.map(Self)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The vectors stored under some keys, in the order of the keys. `None` is one that is not there or that is damaged.
    pub async fn get(
        &self,
        keys: Vec<EmbeddingKey>,
    ) -> Result<Vec<Option<StoredVector>>, StoreError> {
        self.0.access(move |file| database::get(file, &keys)).await
    }

    /// Stores vectors of a model, all or none, in place of what was stored under their keys, even if the caller stops waiting
    /// meanwhile. `model` is what statistics call it.
    ///
    /// When it returns, they outlive the process, however that ends.
    pub async fn put(
        &self,
        model: impl Display,
        vectors: Vec<(EmbeddingKey, StoredVector)>,
    ) -> Result<(), StoreError> {
        let model = model.to_string();
        self.0
            .write(move |file| database::put(file, &model, &vectors))
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

    /// Removes vectors and makes the file smaller.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, StoreError> {
        self.0.prune(prune).await
    }
}
