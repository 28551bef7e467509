//! The lock on a run's folder, which tells other processes that somebody works on the run.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// The longest wait for a process that holds a run for a moment: to see whether it is running, or while it deletes it.
pub(super) const PATIENCE: Duration = Duration::from_secs(2);
/// The longest wait for others that look at a run at the same time. Looking takes much less.
const GLANCE: Duration = Duration::from_millis(50);
/// How often a lock is tried.
const INTERVAL: Duration = Duration::from_millis(5);

/// A process is working on the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IsRunning;

/// Shares the lock of `folder` with whoever works on the run, once nobody has it alone. `None` on a file system without locks.
pub(super) async fn share(folder: &Path) -> Result<Option<File>, IsRunning> {
    let began = Instant::now();
    loop {
        match try_share(folder) {
            Err(IsRunning) if began.elapsed() < PATIENCE => tokio::time::sleep(INTERVAL).await,
            tried => return tried,
        }
    }
}

/// The same without waiting.
pub(super) fn try_share(folder: &Path) -> Result<Option<File>, IsRunning> {
    let Ok(folder) = File::open(folder) else {
        return Ok(None);
    };
    match folder.try_lock_shared() {
        Ok(()) => Ok(Some(folder)),
        Err(TryLockError::WouldBlock) => Err(IsRunning),
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Takes the lock of `folder` alone, so that nobody else works on the run. `None` on a file system without locks.
pub(super) fn take_alone(folder: &Path) -> Result<Option<File>, IsRunning> {
    let Ok(folder) = File::open(folder) else {
        return Ok(None);
    };
    let began = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            // Two processes that look at the run at the same time do not work on it.
            Err(TryLockError::WouldBlock) if began.elapsed() < GLANCE => thread::sleep(INTERVAL),
            Err(TryLockError::WouldBlock) => return Err(IsRunning),
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
}
