//! The record of one batch on the disk: which requests are in it, and how far it is.
//!
//! Each step is on the disk before the next one begins:
//!
//! 1. the requests, before anything is sent,
//! 2. the server's name of the uploaded file, before the batch is created,
//! 3. that the batch is about to be created, before each attempt,
//! 4. the server's name of the batch,
//! 5. that the batch is over and its replies are in the file beside the record.
//!
//! After a kill, a batch with step 1 alone does not exist at the server. With step 2 or 3 it may exist, and the server is asked. With step 4
//! it is waited for, and with step 5 its replies are read from the disk. When no reply is needed any more, both files are deleted.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evals::{JournalError, RecordFile};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::host::BatchSize;

/// The ending of a record's file name. The file with its replies has the ending [`REPLIES`].
const RECORD: &str = ".batch.jsonl";
const REPLIES: &str = ".replies.jsonl";

/// A server may still be creating a batch for so long after a kill.
const RECENT: Duration = Duration::from_mins(10);

/// A line of a record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "step", rename_all = "snake_case")]
enum Step {
    /// The model, as the parameters of its replies, and the requests of the batch.
    Requests {
        model: Map<String, Value>,
        ids: BTreeSet<String>,
        size: BatchSize,
    },
    /// The server's name of the uploaded file.
    File(Named),
    /// The server is about to be asked to create the batch.
    Creating {},
    /// The server's name of the batch.
    Batch(Named),
    /// The batch is over, and its replies are on the disk.
    Collected {},
    /// The store of replies has the reply to this request.
    Stored(Named),
}

#[derive(Debug, Serialize, Deserialize)]
struct Named {
    id: String,
}

/// What a record holds.
#[derive(Debug, Default)]
pub(super) struct Contents {
    model: Map<String, Value>,
    pub(super) ids: BTreeSet<String>,
    pub(super) size: Option<BatchSize>,
    pub(super) file: Option<String>,
    pub(super) batch: Option<String>,
    is_collected: bool,
    stored: BTreeSet<String>,
}

impl Contents {
    fn add(&mut self, step: Step) {
        match step {
            Step::Requests { model, ids, size } => {
                (self.model, self.ids, self.size) = (model, ids, Some(size));
            }
            Step::File(named) => self.file = Some(named.id),
            // Only the time of the line matters.
            Step::Creating {} => {}
            Step::Batch(named) => self.batch = Some(named.id),
            Step::Collected {} => self.is_collected = true,
            Step::Stored(named) => {
                self.stored.insert(named.id);
            }
        }
    }

    /// Whether the replies are on the disk.
    pub(super) fn is_collected(&self) -> bool {
        self.is_collected
    }

    /// Whether the batch has this request, and its reply is still needed.
    pub(super) fn needs(&self, id: &str) -> bool {
        self.ids.contains(id) && !self.stored.contains(id)
    }

    /// How many of the replies are still needed.
    pub(super) fn needed(&self) -> usize {
        self.ids.difference(&self.stored).count()
    }

    /// Whether no reply can come of the batch any more: its file was never uploaded, or no reply is needed.
    pub(super) fn is_over(&self) -> bool {
        let is_at_server = self.file.is_some() || self.batch.is_some();
        !is_at_server || (self.is_collected && self.needed() == 0)
    }
}

/// The record of one batch. The file is locked while this lives.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) key: String,
    file: RecordFile,
    pub(super) contents: Contents,
}

/// What opening the record of another process led to.
#[derive(Debug)]
pub(super) enum Reopened {
    Record(Box<Record>),
    /// The process that has locked this file is still running.
    InUse(PathBuf),
    Deleted,
}

impl Record {
    /// Records that a batch of these requests is about to be submitted.
    pub(super) fn create(
        folder: &Path,
        model: Map<String, Value>,
        ids: BTreeSet<String>,
        size: BatchSize,
    ) -> Result<Self, JournalError> {
        let key = format!("{:032x}", fastrand::u128(..));
        let mut record = Self::open(folder, &key)?;
        record.append(Step::Requests { model, ids, size })?;
        sync_folder(folder);
        Ok(record)
    }

    fn open(folder: &Path, key: &str) -> Result<Self, JournalError> {
        let mut contents = Contents::default();
        let path = file_of(folder, key);
        let file = RecordFile::open(path, &json!({"batch": key}), |step| contents.add(step))?;
        Ok(Self {
            key: key.to_owned(),
            file,
            contents,
        })
    }

    /// Reads the records of a model's batches, without a lock: other processes and other models have records here, too. Each comes with
    /// its key.
    pub(super) fn list(
        folder: &Path,
        model: &Map<String, Value>,
    ) -> Result<Vec<(String, Contents)>, JournalError> {
        let mut list = Vec::new();
        let keys = keys(folder).map_err(|source| JournalError::Io {
            action: "list the folder of",
            path: folder.to_owned(),
            source,
        })?;
        for key in keys {
            let mut contents = Contents::default();
            match RecordFile::read(&file_of(folder, &key), |step| contents.add(step)) {
                // The process that wrote it was killed before the first line was whole, or has just deleted it.
                Err(JournalError::NoHeader { .. }) => continue,
                Err(JournalError::Io { source, .. })
                    if source.kind() == io::ErrorKind::NotFound =>
                {
                    continue;
                }
                read => read?,
            };
            if contents.model == *model {
                list.push((key, contents));
            }
        }
        Ok(list)
    }

    /// Opens the record of another process and locks it.
    pub(super) fn reopen(folder: &Path, key: &str) -> Result<Reopened, JournalError> {
        match Self::open(folder, key) {
            // The other process has deleted it, and opening it created an empty one.
            Ok(record) if record.contents.ids.is_empty() => {
                record.delete();
                Ok(Reopened::Deleted)
            }
            Ok(record) => Ok(Reopened::Record(Box::new(record))),
            Err(JournalError::Locked { path }) => Ok(Reopened::InUse(path)),
            Err(error) => Err(error),
        }
    }

    /// The file of the record.
    pub(super) fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file of the replies.
    pub(super) fn replies(&self) -> PathBuf {
        self.path().with_file_name(format!("{}{REPLIES}", self.key))
    }

    /// Whether the last step is so recent that the server may not show it yet.
    pub(super) fn is_recent(&self) -> bool {
        let written = fs::metadata(self.path()).and_then(|file| file.modified());
        // A time in the future is that of a clock that was set back since.
        written.is_ok_and(|time| time.elapsed().map_or(true, |age| age < RECENT))
    }

    /// Records the server's name of the uploaded file.
    pub(super) fn uploaded(&mut self, file: &str) -> Result<(), JournalError> {
        self.append(Step::File(Named {
            id: file.to_owned(),
        }))
    }

    /// Records that the server is about to be asked to create the batch, which makes the record [recent](Self::is_recent).
    pub(super) fn creating(&mut self) -> Result<(), JournalError> {
        self.append(Step::Creating {})
    }

    /// Records the server's name of the batch.
    pub(super) fn created(&mut self, batch: &str) -> Result<(), JournalError> {
        self.append(Step::Batch(Named {
            id: batch.to_owned(),
        }))
    }

    /// Records that the batch is over and its replies are on the disk.
    pub(super) fn collected(&mut self) -> Result<(), JournalError> {
        sync_folder(self.path().parent().unwrap_or(Path::new(".")));
        self.append(Step::Collected {})
    }

    /// Records that the reply to a request is needed no more. A lost line does no harm, so it is not synced.
    pub(super) fn settle(&mut self, id: &str) -> Result<(), JournalError> {
        if self.contents.stored.insert(id.to_owned()) {
            let id = id.to_owned();
            self.file.append(&Step::Stored(Named { id }))?;
        }
        Ok(())
    }

    /// Deletes record and replies.
    pub(super) fn delete(self) {
        // The record goes first: replies without a record do no harm.
        let (record, replies) = (self.path().to_owned(), self.replies());
        drop(self.file);
        let _ = fs::remove_file(record);
        let _ = fs::remove_file(replies);
    }

    fn append(&mut self, step: Step) -> Result<(), JournalError> {
        self.file.append(&step)?;
        self.file.sync()?;
        self.contents.add(step);
        Ok(())
    }
}

fn file_of(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}{RECORD}"))
}

/// The keys of all records in a folder, in order.
fn keys(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut keys = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let key = name.to_str().and_then(|name| name.strip_suffix(RECORD));
        keys.extend(key.map(str::to_owned));
    }
    keys.sort_unstable();
    Ok(keys)
}

/// Makes the names in a folder survive a power failure, where the system can.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}
