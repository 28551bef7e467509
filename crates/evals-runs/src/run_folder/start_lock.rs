//! The locks under which a process finds the run to resume or creates a new one, and under which it merges shards.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::time::sleep;

use crate::Notes;

/// How often a waiting process tries to take the lock.
const INTERVAL: Duration = Duration::from_millis(20);
/// How long a process waits before it tells the user why.
const SILENCE: Duration = Duration::from_secs(2);
/// The longest wait. Starting a run takes only as long as reading the manifests of earlier runs, and merging shards as long as reading them.
const PATIENCE: Duration = Duration::from_mins(1);

/// The right to start a run, or to merge shards, held by one process of the machine at a time.
///
/// Unlike the lock of an index, it is held for moments, so waiting for it ends after a minute, and its file does not name the holder.
/// The operating system releases it when its process ends for whatever reason.
#[derive(Debug)]
pub struct StartLock(File);

impl StartLock {
    /// Takes the lock as soon as no other process starts a run in the folder `data`.
    pub async fn take(data: &Path, notes: &dyn Notes) -> Result<Self> {
        Self::of(data, "runs.lock", "starting a run", notes).await
    }

    /// Takes the lock as soon as no other process merges shards into the folder `data`.
    pub async fn to_merge(data: &Path, notes: &dyn Notes) -> Result<Self> {
        Self::of(data, "merges.lock", "merging shards", notes).await
    }

    async fn of(data: &Path, file: &str, doing: &str, notes: &dyn Notes) -> Result<Self> {
        let path = data.join(file);
        let unusable = || format!("cannot lock `{}`", path.display());
        fs::create_dir_all(data).with_context(unusable)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).with_context(unusable)?;
        let began = Instant::now();
        let mut is_noted = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => {}
                Err(TryLockError::WouldBlock) => bail!(
                    "another process is still {doing} after {} s and holds the lock `{}`; wait for it, or end it",
                    PATIENCE.as_secs(),
                    path.display()
                ),
                Err(TryLockError::Error(error)) => return Err(error).with_context(unusable),
            }
            if !is_noted && began.elapsed() >= SILENCE {
                is_noted = true;
                notes.note(&format!(
                    "waiting for another process that is {doing} (lock `{}`)",
                    path.display()
                ));
            }
            sleep(INTERVAL).await;
        }
    }
}

impl Drop for StartLock {
    fn drop(&mut self) {
        // A child process that is just being started may share the open file, and would keep the lock after this process closes it.
        let _ = self.0.unlock();
    }
}
