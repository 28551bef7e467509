//! The lock that lets one process at a time write to a store in a folder.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::process;
use std::time::Duration;

use tokio::time;

use crate::error::IndexError;
use crate::lock_holder::LockHolder;

/// Name of the lock file in a store's folder.
const FILE_NAME: &str = "evaluations.lock";
/// How often a waiting process tries to take the lock.
const RETRY: Duration = Duration::from_millis(100);

/// The right to write to a store, held by one process of the machine at a time.
///
/// The operating system releases an advisory lock when its process ends for whatever reason, so a killed build leaves nothing to clean
/// up. The file stays; it names the process that wrote it last.
///
/// Unlike the lock for starting a run, it is held for as long as a build takes, so waiting for it has no limit, and its file names the
/// holder.
#[derive(Debug)]
pub(crate) struct FolderLock {
    /// Keeps the lock until it is closed.
    _file: File,
}

impl FolderLock {
    /// Takes the lock as soon as no other process holds it, and calls `waiting` with each holder until then.
    ///
    /// Dropping the future ends the wait.
    pub(crate) async fn wait(
        folder: &Path,
        waiting: impl Fn(&LockHolder),
    ) -> Result<Self, IndexError> {
        let mut reported = None;
        loop {
            match Self::acquire(folder) {
                Err(IndexError::Busy { holder, .. }) => {
                    // A process that took the lock a moment ago may not have written its id yet.
                    if holder.process.is_some() && reported.as_ref() != Some(&holder) {
                        waiting(&holder);
                        reported = Some(holder);
                    }
                }
                outcome => return outcome,
            }
            time::sleep(RETRY).await;
        }
    }

    pub(crate) fn acquire(folder: &Path) -> Result<Self, IndexError> {
        let lock = folder.join(FILE_NAME);
        let unavailable = |source| IndexError::Lock {
            lock: lock.clone(),
            source,
        };
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&lock)
            .map_err(unavailable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = LockHolder::read(&lock);
                let lock = lock.display().to_string();
                return Err(IndexError::Busy { lock, holder });
            }
            Err(TryLockError::Error(source)) => return Err(unavailable(source)),
        }
        write_holder(&file).map_err(unavailable)?;
        Ok(Self { _file: file })
    }
}

fn write_holder(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    writeln!(file, "{}", process::id())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn the_second_holder_learns_who_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = FolderLock::acquire(folder.path()).unwrap();
        let error = FolderLock::acquire(folder.path()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the index is being built by process {}, which holds the lock `{}`",
                process::id(),
                folder.path().join(FILE_NAME).display()
            )
        );
        drop(first);
        assert!(FolderLock::acquire(folder.path()).is_ok());
    }

    #[tokio::test]
    async fn a_waiting_process_learns_the_holder() {
        let folder = tempfile::tempdir().unwrap();
        let before = SystemTime::now() - Duration::from_secs(1);
        let first = FolderLock::acquire(folder.path()).unwrap();
        let holders = std::sync::Mutex::new(Vec::new());
        let note = |holder: &LockHolder| holders.lock().unwrap().push(holder.clone());
        let second = FolderLock::wait(folder.path(), note);
        let release = async {
            time::sleep(3 * RETRY).await;
            drop(first);
        };
        let (second, ()) = tokio::join!(second, release);
        assert!(second.is_ok());
        let [holder] = holders.into_inner().unwrap().try_into().unwrap();
        assert_eq!(holder.process, Some(process::id()));
        assert!(holder.since.unwrap() >= before);
    }

    #[tokio::test]
    async fn a_failure_ends_the_wait() {
        let folder = tempfile::tempdir().unwrap();
        let absent = folder.path().join("absent");
        let error = FolderLock::wait(&absent, |_| {}).await.unwrap_err();
        assert!(matches!(error, IndexError::Lock { .. }));
    }

    /// The lock of a process that ended is free, whichever process its file names.
    #[tokio::test]
    async fn a_stale_lock_file_delays_nobody() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(FILE_NAME), "1\n").unwrap();
        let lock = FolderLock::wait(folder.path(), |holder| panic!("{holder}")).await;
        assert!(lock.is_ok());
    }

    #[test]
    fn a_missing_folder_cannot_be_locked() {
        let folder = tempfile::tempdir().unwrap();
        let error = FolderLock::acquire(&folder.path().join("absent")).unwrap_err();
        assert!(matches!(error, IndexError::Lock { .. }));
    }
}
