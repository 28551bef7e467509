use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::IndexError;

/// Name of the lock file in a store's folder.
const FILE_NAME: &str = "evaluations.lock";

/// The right to write to a store, held by one process of the machine at a time.
///
/// The operating system gives an advisory lock up when its process ends, however that happens, so a killed build leaves nothing
/// to clean up. The file stays; it says which process wrote it last.
#[derive(Debug)]
pub(crate) struct StoreLock {
    /// Keeps the lock until it is closed.
    _file: File,
}

impl StoreLock {
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
            Err(TryLockError::WouldBlock) => return Err(busy(lock)),
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

fn busy(lock: PathBuf) -> IndexError {
    let holder = fs::read_to_string(&lock)
        .ok()
        .and_then(|content| content.trim().parse::<u32>().ok())
        .map_or_else(
            || "another process".to_owned(),
            |process| format!("process {process}"),
        );
    IndexError::Busy { lock, holder }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_holder_learns_who_is_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = StoreLock::acquire(folder.path()).unwrap();
        let error = StoreLock::acquire(folder.path()).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the index is being built by process {}, which holds the lock `{}`",
                process::id(),
                folder.path().join(FILE_NAME).display()
            )
        );
        drop(first);
        assert!(StoreLock::acquire(folder.path()).is_ok());
    }

    #[test]
    fn a_missing_folder_cannot_be_locked() {
        let folder = tempfile::tempdir().unwrap();
        let error = StoreLock::acquire(&folder.path().join("absent")).unwrap_err();
        assert!(matches!(error, IndexError::Lock { .. }));
    }
}
