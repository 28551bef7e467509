use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use super::{File, Kind, Prune, Pruned, Result, StoreError, StoreStatistics, Writes};

/// An open file that tasks share. It is read and written on the runtime's threads for blocking work, one access at a time.
#[derive(Clone, Debug)]
pub(crate) struct Handle {
    path: Arc<Path>,
    file: Arc<Mutex<File>>,
    writes: Writes,
}

impl Handle {
    /// Opens a file, or makes it with its folder where there is none.
    pub(crate) async fn open(path: PathBuf, kind: &'static Kind) -> Result<Self> {
        let path: Arc<Path> = path.into();
        let opened = Arc::clone(&path);
        let file = spawn_blocking(move || File::open(&opened, kind)).await;
        let file = file.unwrap_or_else(|_| Err(stopped(&path)))?;
        Ok(Self {
            path,
            file: Arc::new(Mutex::new(file)),
            writes: Writes::default(),
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
        spawn_blocking(move || work(&mut file))
            .await
            .unwrap_or_else(|_| Err(stopped(&self.path)))
    }
}

fn stopped(path: &Path) -> StoreError {
    StoreError::Stopped {
        path: path.to_owned(),
    }
}
