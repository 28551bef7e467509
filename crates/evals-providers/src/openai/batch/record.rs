//! The records of batches on the disk: which requests are in a batch, and how far it is.
//!
//! Each step is on the disk before the next one begins:
//!
//! 1. the requests, before anything is sent,
//! 2. the server's name of the uploaded file, before the batch is created,
//! 3. that the batch is about to be created, before each attempt,
//! 4. the server's name of the batch.
//!
//! After a kill, a batch with step 1 alone does not exist at the server. With step 2 or 3 it may exist, and the server is asked. With step 4
//! it is waited for. When its replies are stored, the record is deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evals::{JournalError, RecordFile};
use evals_models::Failure;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};

use super::host::BatchSize;
use crate::traffic::AttemptError;

/// The ending of a record's file name.
const RECORD: &str = ".batch.jsonl";
/// The file that a process locks while it looks for records and writes its own.
const LOCK: &str = "batches.lock";
/// How long a process waits for the lock of another one, which holds it for a few seconds at most.
const PATIENCE: Duration = Duration::from_mins(2);
/// The pause between two attempts to lock the file.
const PAUSE: Duration = Duration::from_millis(20);
/// A server may still be creating a batch for so long after a kill.
const RECENT: Duration = Duration::from_mins(10);

/// A line of a record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
pub(super) enum BatchStep {
    /// The model, as the parameters of its replies, and the requests of the batch.
    Requests {
        model: Map<String, Value>,
        ids: BTreeSet<String>,
        size: BatchSize,
    },
    /// The server's name of the uploaded file.
    File { id: String },
    /// The server is about to be asked to create the batch. Only the time of the line matters.
    Creating {},
    /// The server's name of the batch.
    Batch { id: String },
    /// An earlier version of the program kept the replies in a file beside the record. They are downloaded again.
    Collected {},
    /// An earlier version of the program stored the reply to this request before the others.
    Stored { id: String },
}

/// What a record holds.
#[derive(Debug, Default)]
pub(super) struct RecordedBatch {
    model: Map<String, Value>,
    pub(super) ids: BTreeSet<String>,
    pub(super) size: BatchSize,
    pub(super) file: Option<String>,
    pub(super) batch: Option<String>,
}

impl RecordedBatch {
    fn add(&mut self, step: BatchStep) {
        match step {
            BatchStep::Requests { model, ids, size } => {
                (self.model, self.ids, self.size) = (model, ids, size);
            }
            BatchStep::File { id } => self.file = Some(id),
            BatchStep::Batch { id } => self.batch = Some(id),
            BatchStep::Stored { id } => {
                self.ids.remove(&id);
            }
            BatchStep::Creating {} | BatchStep::Collected {} => {}
        }
    }

    /// Whether no reply can come of the batch any more: its file was never uploaded, or no reply is missing.
    fn is_over(&self) -> bool {
        self.ids.is_empty() || (self.file.is_none() && self.batch.is_none())
    }
}

/// The record of one batch. The file is locked while this lives.
#[derive(Debug)]
pub(super) struct BatchRecord {
    pub(super) key: String,
    file: RecordFile,
    pub(super) contents: RecordedBatch,
}

impl BatchRecord {
    fn open(folder: &Path, key: String) -> Result<Self, JournalError> {
        let mut contents = RecordedBatch::default();
        let path = folder.join(format!("{key}{RECORD}"));
        let file = RecordFile::open(path, &json!({"batch": key}), |step| contents.add(step))?;
        Ok(Self {
            key,
            file,
            contents,
        })
    }

    /// The file of the record.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Whether the last step is so recent that the server may not show it yet.
    pub(super) fn is_recent(&self) -> bool {
        let written = fs::metadata(self.path()).and_then(|file| file.modified());
        // A time in the future is that of a clock that was set back since.
        written.is_ok_and(|time| time.elapsed().map_or(true, |age| age < RECENT))
    }

    /// Records a step, before the next one begins.
    pub(super) fn append(&mut self, step: BatchStep) -> Result<(), JournalError> {
        self.file.append(&step)?;
        self.file.sync()?;
        self.contents.add(step);
        Ok(())
    }

    /// Deletes the record, and the replies that an earlier version of the program kept beside it.
    pub(super) fn delete(self) {
        let record = self.path().to_owned();
        let replies = record.with_file_name(format!("{}.replies.jsonl", self.key));
        drop(self.file);
        let _ = fs::remove_file(record);
        let _ = fs::remove_file(replies);
    }
}

/// The records of a model's batches: those of this process, and those that other processes wrote.
pub(super) struct RecordFolder {
    path: PathBuf,
    model: Map<String, Value>,
    /// The keys of records that this process has written or opened.
    own: BTreeSet<String>,
    /// What the records of other processes held at the last [scan](Self::scan), by their keys.
    others: BTreeMap<String, RecordedBatch>,
    is_scanned: bool,
}

/// The turn of this process to look through the records and to write one. Dropping it lets the next process go on.
#[derive(Debug)]
pub(super) struct Turn(File);

impl Drop for Turn {
    fn drop(&mut self) {
        // If a child process is just being started, it would inherit the lock when the file is only closed.
        let _ = self.0.unlock();
    }
}

impl RecordFolder {
    pub(super) fn new(path: &Path, model: Map<String, Value>) -> Self {
        Self {
            path: path.to_owned(),
            model,
            own: BTreeSet::new(),
            others: BTreeMap::new(),
            is_scanned: false,
        }
    }

    /// Whether the last [scan](Self::scan) found no record of another process.
    pub(super) fn is_empty(&self) -> bool {
        self.others.is_empty()
    }

    /// Waits for the turn to [scan](Self::scan) the records and to [create](Self::create) one.
    ///
    /// # Errors
    ///
    /// The file cannot be locked, or another process does not release it within [`PATIENCE`].
    pub(super) async fn turn(&self) -> Result<Turn, AttemptError> {
        fs::create_dir_all(&self.path).map_err(failed("create the folder of", &self.path))?;
        let path = self.path.join(LOCK);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(failed("open", &path))?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Turn(file)),
                Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error).into()),
                Err(TryLockError::WouldBlock) => {}
            }
            let waited = began.elapsed();
            if waited >= PATIENCE {
                let text = format!(
                    "another process has locked `{}` for {} s: look for a stopped or hanging process of this program, end it, and run the same command again",
                    path.display(),
                    waited.as_secs()
                );
                return Err(AttemptError::new(Failure::Terminal, text));
            }
            // A blocking call would take a thread of the runtime, for ever if the other process is stopped.
            sleep(PAUSE).await;
        }
    }

    /// Reads the records of other processes, without locks.
    pub(super) fn scan(&mut self) -> Result<(), JournalError> {
        self.others.clear();
        self.is_scanned = true;
        for key in self
            .keys()
            .map_err(failed("list the folder of", &self.path))?
        {
            if self.own.contains(&key) {
                continue;
            }
            let mut contents = RecordedBatch::default();
            let path = self.path.join(format!("{key}{RECORD}"));
            match RecordFile::read(&path, |step| contents.add(step)) {
                // The process that wrote it was killed before the first line was whole, or has just deleted it.
                Err(JournalError::NoHeader { .. }) => continue,
                Err(JournalError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound =>
                {
                    continue;
                }
                read => read?,
            };
            if contents.model == self.model {
                self.others.insert(key, contents);
            }
        }
        Ok(())
    }

    /// Opens the record of another process's batch with this request, which then belongs to this process.
    ///
    /// # Errors
    ///
    /// The other process still waits for the batch.
    pub(super) fn take(&mut self, id: &str) -> Result<Option<BatchRecord>, AttemptError> {
        if !self.is_scanned {
            self.scan()?;
        }
        let holds = |(_, contents): &(&String, &RecordedBatch)| contents.ids.contains(id);
        while let Some((key, _)) = self.others.iter().find(holds) {
            let key = key.clone();
            let record = self.reopen(&key).map_err(|error| match error {
                JournalError::Locked { path } => {
                    let text = format!(
                        "another process submitted this request in a batch and waits for it; wait until that process ends, then run the same command again (`{}`)",
                        path.display()
                    );
                    AttemptError::new(Failure::Terminal, text)
                }
                error => error.into(),
            })?;
            self.others.remove(&key);
            if record.is_some() {
                self.own.insert(key);
                return Ok(record);
            }
        }
        Ok(None)
    }

    /// Opens the record of another process and locks it. Deletes it if no reply can come of the batch any more.
    fn reopen(&self, key: &str) -> Result<Option<BatchRecord>, JournalError> {
        let record = BatchRecord::open(&self.path, key.to_owned())?;
        // If the other process has deleted it, opening it has created an empty one.
        if record.contents.is_over() {
            record.delete();
            return Ok(None);
        }
        Ok(Some(record))
    }

    /// Records that a batch of these requests is about to be submitted.
    pub(super) fn create(
        &mut self,
        ids: BTreeSet<String>,
        size: BatchSize,
    ) -> Result<BatchRecord, JournalError> {
        let key = format!("{:032x}", fastrand::u128(..));
        let mut record = BatchRecord::open(&self.path, key.clone())?;
        let model = self.model.clone();
        record.append(BatchStep::Requests { model, ids, size })?;
        // Makes its name survive a power failure, where the system can.
        if let Ok(folder) = File::open(&self.path) {
            let _ = folder.sync_all();
        }
        self.own.insert(key);
        Ok(record)
    }

    /// The keys of all records, in order.
    fn keys(&self) -> io::Result<BTreeSet<String>> {
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
            entries => entries?,
        };
        let mut keys = BTreeSet::new();
        for entry in entries {
            let name = entry?.file_name();
            let key = name.to_str().and_then(|name| name.strip_suffix(RECORD));
            keys.extend(key.map(str::to_owned));
        }
        Ok(keys)
    }
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_owned();
    move |source| JournalError::Io {
        action,
        path,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_wait_for_a_turn_blocks_no_thread_and_has_an_end() {
        let folder = std::env::temp_dir().join(format!("evals-records-{:016x}", fastrand::u64(..)));
        let [first, second] = [(); 2].map(|()| RecordFolder::new(&folder, Map::new()));
        let turn = first.turn().await.unwrap();
        // Both tasks run on the only thread.
        let releasing = async {
            sleep(Duration::from_secs(1)).await;
            drop(turn);
        };
        let (waited, ()) = tokio::join!(second.turn(), releasing);
        let turn = waited.unwrap();
        let error = first.turn().await.unwrap_err().source.to_string();
        drop(turn);
        fs::remove_dir_all(&folder).unwrap();
        let expected = "has locked `";
        assert!(error.contains(expected), "{error}");
        let expected = "batches.lock` for 120 s: look for a stopped or hanging process";
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn a_record_of_an_earlier_version_is_collected_as_far_as_replies_are_missing() {
        let folder = std::env::temp_dir().join(format!("evals-records-{:016x}", fastrand::u64(..)));
        fs::create_dir_all(&folder).unwrap();
        let [mut first, mut second] = [(); 2].map(|()| RecordFolder::new(&folder, Map::new()));
        let ids = BTreeSet::from(["a", "b"].map(str::to_owned));
        let mut record = first.create(ids, BatchSize::default()).unwrap();
        let [file, batch, stored] = ["file", "batch", "a"].map(str::to_owned);
        for step in [
            BatchStep::File { id: file },
            BatchStep::Batch { id: batch },
            BatchStep::Collected {},
            BatchStep::Stored { id: stored },
        ] {
            record.append(step).unwrap();
        }
        let replies = record
            .path()
            .with_file_name(format!("{}.replies.jsonl", record.key));
        fs::write(&replies, "{}").unwrap();
        drop(record);
        second.scan().unwrap();
        assert!(second.take("a").unwrap().is_none());
        let taken = second.take("b").unwrap().unwrap();
        assert_eq!(taken.contents.batch.as_deref(), Some("batch"));
        assert_eq!(taken.contents.ids.len(), 1);
        taken.delete();
        assert!(!replies.exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
