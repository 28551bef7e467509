//! The file behind every store: a `SQLite` database that several processes may use at a time, whose commits outlive the process
//! however it ends, and which notices damage.

mod caching;
mod entry;
mod error;
mod file;
mod table;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::timeout;

pub use caching::RefreshPolicy;
pub(crate) use caching::{Cache, Keyed, WriteFailure, distinct};
pub use entry::EntryKey;
pub(crate) use entry::{StoreTable, StoredEntry};
pub use error::StoreError;
pub use table::{ModelEntries, Prune, Pruned, StoreStatistics};

use error::PATIENCE;
use file::File;

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

type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Is called with one line when work waits for a file that another process has locked. It must not block.
pub type Watch = Arc<dyn Fn(&str) + Send + Sync>;

/// How long an access may take before its [`Watch`] is called. A commit takes a thousandth of it.
const SILENCE: Duration = Duration::from_secs(2);

/// Counts the writes to a store that are under way, so that a process can wait for them before it exits. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct Writes(Arc<AtomicUsize>);

/// A write that is under way until this is dropped.
#[derive(Debug)]
struct Writing(Writes);

/// An open file that tasks share.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(super) path: Arc<Path>,
    file: Arc<Mutex<File>>,
    pub(super) writes: Writes,
    watch: Option<Watch>,
}

impl Handle {
    /// Opens the file, or creates it and its folder.
    pub(super) async fn open(
        path: PathBuf,
        table: &'static StoreTable,
        watch: Option<Watch>,
    ) -> Result<Self> {
        let path: Arc<Path> = path.into();
        let opened = Arc::clone(&path);
        let opening = spawn_blocking(move || File::open(&opened, table));
        let file = watched(opening, &path, watch.as_ref()).await;
        let file = file.unwrap_or_else(|_| Err(stopped(&path)))?;
        Ok(Self {
            path,
            file: Arc::new(Mutex::new(file)),
            writes: Writes::default(),
            watch,
        })
    }

    pub(super) fn note(&self, line: &str) {
        if let Some(watch) = &self.watch {
            watch(line);
        }
    }

    /// Writes to the file when it is this task's turn, even if the caller stops waiting.
    pub(super) async fn write(
        &self,
        work: impl FnOnce(&mut File) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let (handle, writing) = (self.clone(), self.writes.begin());
        let written = tokio::spawn(async move {
            let written = handle.access(work).await;
            drop(writing);
            written
        });
        written.await.unwrap_or_else(|_| Err(stopped(&self.path)))
    }

    /// Uses the file when it is this task's turn.
    pub(super) async fn access<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut File) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let mut file = Arc::clone(&self.file).lock_owned().await;
        let working = spawn_blocking(move || work(&mut file));
        let done = watched(working, &self.path, self.watch.as_ref()).await;
        done.unwrap_or_else(|_| Err(stopped(&self.path)))
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Handle")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl Writes {
    /// The number of writes that have begun and not ended, successfully or not.
    pub fn under_way(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    fn begin(&self) -> Writing {
        self.0.fetch_add(1, Ordering::AcqRel);
        Writing(self.clone())
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Waits for an access, and calls `watch` if it takes longer than an access to an unlocked file does.
async fn watched<T>(
    mut access: JoinHandle<T>,
    path: &Path,
    watch: Option<&Watch>,
) -> std::result::Result<T, JoinError> {
    let Some(watch) = watch else {
        return access.await;
    };
    if let Ok(done) = timeout(SILENCE, &mut access).await {
        return done;
    }
    watch(&format!(
        "waiting up to {} s for `{}`, which another process may have locked",
        PATIENCE.as_secs(),
        path.display()
    ));
    access.await
}

fn stopped(path: &Path) -> StoreError {
    StoreError::Stopped {
        path: path.to_owned(),
    }
}
