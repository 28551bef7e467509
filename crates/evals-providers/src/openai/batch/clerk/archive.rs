//! The records of a model's batches on the disk: those of this process, and those that other processes wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evals::JournalError;
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};

use crate::openai::batch::error::BatchError;
use crate::openai::batch::host::BatchSize;
use crate::openai::batch::record::{Contents, Record, Reopened};

/// The file that a process locks while it looks for records and writes its own.
const LOCK: &str = "batches.lock";
/// How long a process waits for the lock of another one, which holds it for a few seconds at most.
const PATIENCE: Duration = Duration::from_mins(2);
/// The pause between two attempts to lock the file.
const PAUSE: Duration = Duration::from_millis(20);

/// The records of a model's batches.
pub(super) struct Archive {
    folder: PathBuf,
    model: Map<String, Value>,
    /// The keys of records that this process has written or opened.
    own: BTreeSet<String>,
    /// What the records of other processes held at the last [scan](Self::scan), by their keys.
    others: BTreeMap<String, Contents>,
}

/// Where a request is.
pub(super) enum Taken {
    /// In no batch of another process.
    Nowhere,
    /// In the batch of this record, which belongs to this process now.
    Record(Box<Record>),
    /// In a batch that another process waits for. This is the file of its record.
    InUse(PathBuf),
}

/// The turn of this process to scan the records and to record a batch. Dropping it lets the next process go on.
#[derive(Debug)]
pub(super) struct Turn(File);

impl Drop for Turn {
    fn drop(&mut self) {
        // If a child process is just being started, it would inherit the lock when the file is only closed.
        let _ = self.0.unlock();
    }
}

impl Archive {
    pub(super) fn new(folder: &Path, model: Map<String, Value>) -> Self {
        Self {
            folder: folder.to_owned(),
            model,
            own: BTreeSet::new(),
            others: BTreeMap::new(),
        }
    }

    /// Reads the records of other processes. Deletes those of which no reply can come any more.
    pub(super) fn scan(&mut self) -> Result<(), JournalError> {
        self.others.clear();
        for (key, contents) in Record::list(&self.folder, &self.model)? {
            if self.own.contains(&key) {
                continue;
            }
            if contents.is_over()
                && let Reopened::Record(record) = Record::reopen(&self.folder, &key)?
                && record.contents.is_over()
            {
                record.delete();
                continue;
            }
            self.others.insert(key, contents);
        }
        Ok(())
    }

    /// Opens the record of another process's batch with this request, if that process has ended.
    pub(super) fn take(&mut self, id: &str) -> Result<Taken, JournalError> {
        while let Some(key) = self.holding(id).map(|(key, _)| key.clone()) {
            match Record::reopen(&self.folder, &key)? {
                Reopened::InUse(record) => return Ok(Taken::InUse(record)),
                Reopened::Deleted => {
                    self.others.remove(&key);
                }
                Reopened::Record(record) if record.contents.is_over() => {
                    self.others.remove(&key);
                    record.delete();
                }
                Reopened::Record(record) if record.contents.needs(id) => {
                    self.others.remove(&key);
                    self.own.insert(key);
                    return Ok(Taken::Record(record));
                }
                // The other process has stored the reply since the scan.
                Reopened::Record(record) => {
                    self.others.insert(key, record.contents);
                }
            }
        }
        Ok(Taken::Nowhere)
    }

    /// Whether another process has left a reply to this request on the disk.
    pub(super) fn has_reply(&self, id: &str) -> bool {
        let holding = self.holding(id);
        holding.is_some_and(|(_, contents)| contents.is_collected())
    }

    /// Whether a batch of another process has this request and may have its reply.
    pub(super) fn holds(&self, id: &str) -> bool {
        self.holding(id).is_some()
    }

    fn holding(&self, id: &str) -> Option<(&String, &Contents)> {
        let mut others = self.others.iter();
        others.find(|(_, contents)| contents.needs(id))
    }

    /// Waits for the turn to [scan](Self::scan) the records and to [record](Self::create) a batch.
    ///
    /// # Errors
    ///
    /// The file cannot be locked, or another process does not release it within [`PATIENCE`].
    pub(super) async fn turn(&self) -> Result<Turn, BatchError> {
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| {
                BatchError::record(JournalError::Io {
                    action,
                    path,
                    source,
                })
            }
        };
        fs::create_dir_all(&self.folder).map_err(failed("create the folder of", &self.folder))?;
        let path = self.folder.join(LOCK);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(failed("open", &path))?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Turn(file)),
                Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = began.elapsed();
            if waited >= PATIENCE {
                return Err(BatchError::Locked { path, waited });
            }
            // A blocking call would take a thread of the runtime, for ever if the other process is stopped.
            sleep(PAUSE).await;
        }
    }

    /// Records that a batch of these requests is about to be submitted.
    pub(super) fn create(
        &mut self,
        ids: BTreeSet<String>,
        size: BatchSize,
    ) -> Result<Record, JournalError> {
        let record = Record::create(&self.folder, self.model.clone(), ids, size)?;
        self.own.insert(record.key.clone());
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_wait_for_a_turn_blocks_no_thread_and_has_an_end() {
        let folder = std::env::temp_dir().join(format!("evals-archive-{:016x}", fastrand::u64(..)));
        let [first, second] = [(); 2].map(|()| Archive::new(&folder, Map::new()));
        let turn = first.turn().await.unwrap();
        // Both tasks run on the only thread.
        let releasing = async {
            sleep(Duration::from_secs(1)).await;
            drop(turn);
        };
        let (waited, ()) = tokio::join!(second.turn(), releasing);
        let turn = waited.unwrap();
        let error = first.turn().await.unwrap_err().to_string();
        drop(turn);
        fs::remove_dir_all(&folder).unwrap();
        let expected = "has locked `";
        assert!(error.contains(expected), "{error}");
        let expected = "batches.lock` for 120 s: look for a stopped or hanging process";
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_record_is_left_to_others_for_a_reply_that_was_stored_since_the_scan() {
        let folder = std::env::temp_dir().join(format!("evals-archive-{:016x}", fastrand::u64(..)));
        fs::create_dir_all(&folder).unwrap();
        let [mut first, mut second] = [(); 2].map(|()| Archive::new(&folder, Map::new()));
        let ids = BTreeSet::from(["a", "b"].map(str::to_owned));
        let mut record = first.create(ids, BatchSize::ZERO).unwrap();
        record.uploaded("file").unwrap();
        record.created("batch").unwrap();
        record.collected().unwrap();
        second.scan().unwrap();
        record.settle("a").unwrap();
        drop(record);
        let taken = |archive: &mut Archive, id| match archive.take(id).unwrap() {
            Taken::Nowhere => "nowhere",
            Taken::Record(_) => "record",
            Taken::InUse(_) => "in use",
        };
        assert_eq!(taken(&mut second, "a"), "nowhere");
        assert_eq!(taken(&mut second, "b"), "record");
        fs::remove_dir_all(&folder).unwrap();
    }
}
