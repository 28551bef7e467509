//! The file behind every store: a `SQLite` database that several processes may use at a time, whose commits outlive the process
//! however it ends, and which notices damage.

mod caching;
mod contents;
mod entry;
mod error;
mod file;
mod handle;
mod key;
mod table;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

pub use caching::RefreshPolicy;
pub(crate) use caching::{Cache, Keyed, WriteFailure, distinct};
pub use contents::{ModelEntries, Prune, Pruned, StoreStatistics};
pub(crate) use entry::{StoreTable, StoredEntry};
pub use error::StoreError;
pub use handle::{Watch, Writes};
pub use key::EntryKey;

use file::File;
use handle::Handle;

/// Entries of one kind in a `SQLite` file that several processes may use at once. Clones share a connection.
///
/// The file is read and written on the runtime's threads for blocking work, one access at a time.
#[derive(Clone, Debug)]
pub struct Store<E> {
    handle: Handle,
    kind: PhantomData<fn() -> E>,
}

impl<E: StoredEntry> Store<E> {
    /// Opens a file, or creates it and its folder.
    ///
    /// A damaged file is an error, and so is one that belongs to another program. Neither is changed.
    pub async fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::opened(Handle::open(path.into(), E::TABLE, None).await)
    }

    /// Opens a file, and calls `watch` when another process keeps it locked for long.
    pub async fn open_watched(path: impl Into<PathBuf>, watch: Watch) -> Result<Self, StoreError> {
        Self::opened(Handle::open(path.into(), E::TABLE, Some(watch)).await)
    }

    fn opened(handle: Result<Handle, StoreError>) -> Result<Self, StoreError> {
        let kind = PhantomData;
        handle.map(|handle| Self { handle, kind })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.handle.path
    }

    /// The entry under a key. `None` if there is none, or if it is damaged.
    pub async fn get(&self, key: EntryKey) -> Result<Option<E>, StoreError> {
        let found = self.get_all(vec![key]).await?;
        Ok(found.into_iter().next().flatten())
    }

    /// The entries under some keys, in the order of the keys.
    pub async fn get_all(&self, keys: Vec<EntryKey>) -> Result<Vec<Option<E>>, StoreError> {
        let get = move |file: &mut _| table::get(file, &keys);
        self.handle.access(get).await
    }

    /// Stores an entry of a model, replacing the one under the same key. See [`put_all`](Self::put_all).
    pub async fn put(
        &self,
        key: EntryKey,
        model: impl Display,
        entry: E,
    ) -> Result<(), StoreError> {
        self.put_all(model, vec![(key, entry)]).await
    }

    /// Stores entries of a model, all or none, replacing those under the same keys. `model` is its label in
    /// [statistics](StoreStatistics::models).
    ///
    /// When this returns, the entries outlive the process, however it ends. They are stored even if the caller stops waiting.
    pub async fn put_all(
        &self,
        model: impl Display,
        entries: Vec<(EntryKey, E)>,
    ) -> Result<(), StoreError> {
        let model = model.to_string();
        let put = move |file: &mut _| table::put(file, &model, &entries);
        self.handle.write(put).await
    }

    /// Passes a line to the watch, if the file was opened with one.
    pub(crate) fn note(&self, line: &str) {
        self.handle.note(line);
    }

    /// Counts the writes under way.
    pub fn writes(&self) -> &Writes {
        &self.handle.writes
    }

    /// Counts the contents of the store.
    pub async fn statistics(&self) -> Result<StoreStatistics, StoreError> {
        let read = |file: &mut File| file.with(|it| table::statistics(it, E::TABLE));
        self.handle.access(read).await
    }

    /// Removes entries and shrinks the file.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, StoreError> {
        let remove = move |file: &mut File| file.with(|it| table::prune(it, E::TABLE, &prune));
        self.handle.access(remove).await
    }
}
