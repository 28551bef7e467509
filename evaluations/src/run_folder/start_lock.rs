//! The lock under which a process finds the run that it continues, or creates a new one.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use tokio::time::sleep;

use crate::terminal::Printer;

/// How often the lock is tried.
const INTERVAL: Duration = Duration::from_millis(20);
/// After how long the user is told what is waited for.
const SILENCE: Duration = Duration::from_secs(2);
/// The longest wait: starting a run takes the time to read the manifests of earlier ones.
const PATIENCE: Duration = Duration::from_mins(1);

/// One process at a time starts a run. The operating system takes the lock from a process that ends, however it ends.
#[derive(Debug)]
pub(crate) struct StartLock(File);

impl StartLock {
    /// Waits until no other process starts a run in the folder `data`.
    pub(crate) async fn take(data: &Path, printer: &Printer) -> Result<Self> {
        let path = data.join("runs.lock");
        let unusable = || format!("cannot lock `{}`", path.display());
        fs::create_dir_all(data).with_context(unusable)?;
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&path).with_context(unusable)?;
        let began = Instant::now();
        let mut is_told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => {}
                Err(TryLockError::WouldBlock) => bail!(
                    "another process has been starting a run for {} s: it holds `{}`",
                    PATIENCE.as_secs(),
                    path.display()
                ),
                Err(TryLockError::Error(error)) => return Err(error).with_context(unusable),
            }
            if !is_told && began.elapsed() >= SILENCE {
                is_told = true;
                printer.note(&format!(
                    "waiting for another process that starts a run: it holds `{}`",
                    path.display()
                ));
            }
            sleep(INTERVAL).await;
        }
    }
}

impl Drop for StartLock {
    fn drop(&mut self) {
        // Closing alone would leave the lock to a child process that is just being started.
        let _ = self.0.unlock();
    }
}
