//! A file of records to which several processes add lines.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Error, anyhow};
use evals::{JournalError, RecordFile};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// The longest wait for another process that adds lines, which takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval between two attempts to lock the file.
const INTERVAL: Duration = Duration::from_millis(5);

/// What a file holds, in the plural, such as `labels`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedFile {
    /// What messages call it.
    pub(crate) what: &'static str,
    /// What its first line says. It names the format and not a run, because a folder may be copied.
    pub(crate) format: &'static str,
}

impl SharedFile {
    /// Opens and locks the file, and waits while another process holds it. Hands over the records that it holds.
    pub(crate) fn locked<T: DeserializeOwned>(
        self,
        path: &Path,
        mut each: impl FnMut(T),
    ) -> Result<RecordFile, Error> {
        let began = Instant::now();
        let identity: Value = json!({"file": self.format, "version": 1});
        loop {
            // A locked file fails before its first record is read, so that each is handed over once.
            match RecordFile::open(path, &identity, &mut each) {
                Err(JournalError::Locked { .. }) if began.elapsed() < PATIENCE => {
                    thread::sleep(INTERVAL);
                }
                opened => return opened.map_err(|error| self.problem(error)),
            }
        }
    }

    /// The error in words that fit the file: it belongs to no run.
    pub(crate) fn problem(self, error: JournalError) -> Error {
        let what = self.what;
        match error {
            JournalError::Locked { path } => anyhow!(
                "another process has kept the {what} `{}` locked for {} s; wait until it ends",
                path.display(),
                PATIENCE.as_secs()
            ),
            JournalError::NoHeader { path } => anyhow!(
                "`{}` holds no {what}, or its first line is damaged; move it away to start with no {what}",
                path.display()
            ),
            JournalError::AnotherRun { path, .. } | JournalError::UnknownVersion { path, .. } => {
                anyhow!(
                    "`{}` has a format that this version does not read; use the version that wrote it, or move it away",
                    path.display()
                )
            }
            JournalError::NotRegular { path, found } => anyhow!(
                "`{}` is {found}, not a regular file; move it away",
                path.display()
            ),
            other => other.into(),
        }
    }
}
