//! A store's file as tasks share it: one access at a time, on threads for blocking work.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::entry::StoreTable;
use super::error::{PATIENCE, StoreError};
use super::file::File;

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
