//! The process that holds a store's lock, as the lock names it.

use std::fmt;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// The process that writes to a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// Its process id, if the lock file has it.
    pub process: Option<u32>,
    /// The machine that it runs on. `None` for a store in a folder, and if the system does not tell its name.
    pub host: Option<String>,
    /// When it took the lock, if the file system tells.
    pub since: Option<SystemTime>,
}

impl LockHolder {
    /// Reads the lock file, which the holder wrote when it took the lock.
    pub(crate) fn read(lock: &Path) -> Self {
        let content = fs::read_to_string(lock).ok();
        Self {
            process: content.and_then(|content| content.trim().parse().ok()),
            host: None,
            since: fs::metadata(lock).and_then(|found| found.modified()).ok(),
        }
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(formatter, "process {process}")?,
            None => formatter.write_str("another process")?,
        }
        match &self.host {
            Some(host) => write!(formatter, " on {host}"),
            None => Ok(()),
        }
    }
}
