//! The process that holds a store's lock, as its lock file says.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// Who writes to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// Its process, where the lock file tells.
    pub process: Option<u32>,
    /// Since when, where the lock file tells.
    pub since: Option<SystemTime>,
}

impl LockHolder {
    /// What a lock file says, which its holder wrote when it took the lock.
    pub(crate) fn read(lock: &Path) -> Self {
        let content = fs::read_to_string(lock).ok();
        Self {
            process: content.and_then(|content| content.trim().parse().ok()),
            since: fs::metadata(lock).and_then(|found| found.modified()).ok(),
        }
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(formatter, "process {process}"),
            None => formatter.write_str("another process"),
        }
    }
}
