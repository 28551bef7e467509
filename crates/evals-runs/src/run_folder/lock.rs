//! The lock on a run's folder: shared by the process that works on the run, exclusive for one that inspects or deletes it.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait for a process that locks a run briefly, to read its state or to delete it.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// The longest wait for processes that read the state at the same time, which takes much less.
const STATE_CHECK: Duration = Duration::from_millis(50);
/// The interval between two attempts to lock.
const INTERVAL: Duration = Duration::from_millis(5);

/// A process is working on the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IsRunning;

/// Takes the shared lock of `folder`, and waits while another process holds it exclusively. `None` on a file system without locks.
pub(super) async fn lock_shared(folder: &Path) -> Result<Option<File>, IsRunning> {
    let began = Instant::now();
    loop {
        match try_lock_shared(folder) {
            Err(IsRunning) if began.elapsed() < PATIENCE => tokio::time::sleep(INTERVAL).await,
            tried => return tried,
        }
    }
}

/// Like [`lock_shared`], without waiting.
pub(super) fn try_lock_shared(folder: &Path) -> Result<Option<File>, IsRunning> {
    let Ok(folder) = File::open(folder) else {
        return Ok(None);
    };
    match folder.try_lock_shared() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(IsRunning),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Takes the exclusive lock of `folder`, so that no other process works on the run. `None` on a file system without locks.
pub(super) fn lock_exclusive(folder: &Path) -> Result<Option<File>, IsRunning> {
    let Ok(folder) = File::open(folder) else {
        return Ok(None);
    };
    let began = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            // Another process may be reading the state, which does not mean that the run is running.
            Err(TryLockError::WouldBlock) if began.elapsed() < STATE_CHECK => {
                thread::sleep(INTERVAL);
            }
            Err(TryLockError::WouldBlock) => return Err(IsRunning),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}
