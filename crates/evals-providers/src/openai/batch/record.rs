//! The record of one batch on the disk: which requests are in it, and how far it is.
//!
//! Each step is on the disk before the next one begins:
//!
//! 1. the requests, before anything is sent,
//! 2. the server's name of the uploaded file, before the batch is created,
//! 3. the server's name of the batch,
//! 4. that the batch is over and its replies are in the file beside the record.
//!
//! After a kill, a batch with step 1 alone does not exist at the server. With step 2 it may exist, and the server is asked. With step 3 it is
//! waited for, and with step 4 its replies are read from the disk. When every reply is in the store of replies, both files are deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evals::{JournalError, RecordFile};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::host::BatchSize;

/// The ending of a record's file name. That of its replies ends otherwise.
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
            Step::Batch(named) => self.batch = Some(named.id),
            Step::Collected {} => self.is_collected = true,
            Step::Stored(named) => {
                self.stored.insert(named.id);
            }
        }
    }
}

/// The record of one batch. The file is locked while this lives.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) key: String,
    file: RecordFile,
    pub(super) contents: Contents,
}

/// The records of a model's batches in a folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) records: Vec<Record>,
    /// Requests in batches that another process has, each with the file of its record.
    pub(super) elsewhere: BTreeMap<String, PathBuf>,
}

impl Record {
    /// Records that a batch of these requests is about to be submitted.
    pub(super) fn create(
        folder: &Path,
        model: Map<String, Value>,
        ids: BTreeSet<String>,
        size: BatchSize,
    ) -> Result<Self, JournalError> {
        fs::create_dir_all(folder).map_err(|source| JournalError::Io {
            action: "create the folder of",
            path: folder.to_owned(),
            source,
        })?;
        let key = format!("{:032x}", fastrand::u128(..));
        let mut record = Self::open(folder, &key)?;
        record.append(Step::Requests { model, ids, size })?;
        sync_folder(folder);
        Ok(record)
    }

    fn open(folder: &Path, key: &str) -> Result<Self, JournalError> {
        let mut contents = Contents::default();
        let path = folder.join(format!("{key}{RECORD}"));
        let file = RecordFile::open(path, &json!({"batch": key}), |step| contents.add(step))?;
        Ok(Self {
            key: key.to_owned(),
            file,
            contents,
        })
    }

    /// Opens the records of a model's batches.
    pub(super) fn find(folder: &Path, model: &Map<String, Value>) -> Result<Found, JournalError> {
        let mut found = Found::default();
        let keys = keys(folder).map_err(|source| JournalError::Io {
            action: "list the folder of",
            path: folder.to_owned(),
            source,
        })?;
        for key in keys {
            let path = folder.join(format!("{key}{RECORD}"));
            let mut contents = Contents::default();
            // Without a lock, because other models of this process have records here, too.
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
            if contents.model != *model {
                continue;
            }
            match Self::open(folder, &key) {
                Ok(record) => found.records.push(record),
                Err(JournalError::Locked { .. }) => {
                    let ids = contents.ids.into_iter();
                    found.elsewhere.extend(ids.map(|id| (id, path.clone())));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
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
        written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < RECENT))
    }

    /// Whether the replies are on the disk.
    pub(super) fn is_collected(&self) -> bool {
        self.contents.is_collected
    }

    /// Records the server's name of the uploaded file.
    pub(super) fn uploaded(&mut self, file: &str) -> Result<(), JournalError> {
        self.append(Step::File(Named {
            id: file.to_owned(),
        }))
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

    /// Whether the reply to a request is needed no more.
    pub(super) fn is_settled(&self, id: &str) -> bool {
        self.contents.stored.contains(id)
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

/// The names of all records in a folder, in order.
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
