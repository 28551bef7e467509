//! The records of a model's batches on the disk: those of this process, and those that other processes wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use evals::JournalError;
use serde_json::{Map, Value};

use crate::openai::batch::host::BatchSize;
use crate::openai::batch::record::{Contents, Record, Reopened};

/// The file that a process locks while it looks for records and writes its own.
const LOCK: &str = "batches.lock";

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
                Reopened::Record(record) => {
                    self.others.remove(&key);
                    self.own.insert(key);
                    return Ok(Taken::Record(record));
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

    fn holding(&self, id: &str) -> Option<(&String, &Contents)> {
        let mut others = self.others.iter();
        others.find(|(_, contents)| contents.needs(id))
    }

    /// Waits until no other process is between its [scan](Self::scan) and its [record](Self::create). Dropping the file lets the next
    /// one go on.
    pub(super) fn lock(&self) -> Result<File, JournalError> {
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| JournalError::Io {
                action,
                path,
                source,
            }
        };
        fs::create_dir_all(&self.folder).map_err(failed("create the folder of", &self.folder))?;
        let path = self.folder.join(LOCK);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = options.open(&path).map_err(failed("open", &path))?;
        // Processes hold the lock for milliseconds, so the wait needs no blocking thread.
        file.lock().map_err(failed("lock", &path))?;
        Ok(file)
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
