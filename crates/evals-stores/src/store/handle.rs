use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::task::{JoinError, JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::error::PATIENCE;
use super::watch::SILENCE;
use super::{File, Kind, Prune, Pruned, Result, StoreError, StoreStatistics, Watch, Writes};

/// An open file that tasks share. It is read and written on the runtime's threads for blocking work, one access at a time.
#[derive(Clone)]
pub(crate) struct Handle {
    path: Arc<Path>,
    file: Arc<Mutex<File>>,
    writes: Writes,
    watch: Option<Watch>,
}

impl Handle {
    /// Opens a file, or makes it with its folder where there is none.
    pub(crate) async fn open(
        path: PathBuf,
        kind: &'static Kind,
        watch: Option<Watch>,
    ) -> Result<Self> {
        let path: Arc<Path> = path.into();
        let opened = Arc::clone(&path);
        let opening = spawn_blocking(move || File::open(&opened, kind));
        let file = watched(opening, &path, watch.as_ref()).await;
        let file = file.unwrap_or_else(|_| Err(stopped(&path)))?;
        Ok(Self {
            path,
            file: Arc::new(Mutex::new(file)),
            writes: Writes::default(),
            watch,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn writes(&self) -> &Writes {
        &self.writes
    }

    /// Writes to the file as soon as it is this task's turn, even if the caller stops waiting meanwhile.
    pub(crate) async fn write(
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

    pub(crate) async fn statistics(&self) -> Result<StoreStatistics> {
        self.access(File::statistics).await
    }

    pub(crate) async fn prune(&self, prune: Prune) -> Result<Pruned> {
        self.access(move |file| file.prune(&prune)).await
    }

    /// Does something with the file as soon as it is this task's turn.
    pub(crate) async fn access<T: Send + 'static>(
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

/// Waits for an access, and tells when that takes longer than a file takes which nobody else has locked.
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
        "waiting for `{}`, which another process may have locked, for at most {} s",
        path.display(),
        PATIENCE.as_secs()
    ));
    access.await
}

fn stopped(path: &Path) -> StoreError {
    StoreError::Stopped {
        path: path.to_owned(),
    }
}
