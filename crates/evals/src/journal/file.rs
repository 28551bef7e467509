//! The journal in a file.

use std::collections::btree_map::{BTreeMap, Entry as Place};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::Value;

use super::line::{self, WrittenEntry};
use super::records::{RecordFile, check_regular, failed};
use super::stored::count;
use super::{Journal, JournalCase, JournalError};
use crate::{CaseId, CaseReport, Domain};

/// An append-only file with one line for each finished case.
///
/// Every line is a JSON object with a CRC-32 of its remaining bytes. The first line holds the identity of the run.
///
/// The operating system has a line before its case counts, so no case is lost when the process is killed. A power failure
/// may lose the last lines, because the file is synced to the disk by [`sync`](Self::sync) and on drop, not line by line.
/// Lost cases run again.
///
/// The file is locked while it is open. On file systems without locks, opening it is an error.
#[derive(Debug)]
pub struct FileJournal {
    file: RecordFile,
    opened: Instant,
    elapsed: Duration,
}

impl FileJournal {
    /// Creates the journal, or opens it to resume its run, and returns the cases that it holds.
    ///
    /// The identity tells runs apart; it is usually the settings as a JSON object. A journal of another identity is an error
    /// that names the first setting that differs. An incomplete last line is ignored, and so are lines that fail their check
    /// ([`damaged_lines`](Self::damaged_lines)): their cases run again. If a case has several lines, the last one counts; a
    /// retried case relies on this. Nothing is ever removed from the file. The clock behind [`elapsed`](Self::elapsed)
    /// starts here.
    pub fn open<D: Domain>(
        path: impl Into<PathBuf>,
        identity: &Value,
    ) -> Result<(Self, Vec<CaseReport<D>>), JournalError> {
        let opened = Instant::now();
        let mut cases: Vec<CaseReport<D>> = Vec::new();
        // The position of each repetition of a case in the list.
        let mut places: BTreeMap<(CaseId, u32), usize> = BTreeMap::new();
        // Wall time of all sessions so far.
        let mut before = Duration::ZERO;
        let file = RecordFile::open(path, identity, |JournalCase { elapsed, case }| {
            before = before.max(elapsed);
            match places.entry((case.id.clone(), case.repeat)) {
                Place::Vacant(vacant) => {
                    vacant.insert(cases.len());
                    cases.push(case);
                }
                // A later line comes from a later attempt.
                Place::Occupied(occupied) => cases[*occupied.get()] = case,
            }
        })?;
        let journal = Self {
            file,
            opened,
            elapsed: before,
        };
        Ok((journal, cases))
    }

    /// Counts the runs of cases in the journal at `path`. It only reads: it takes no lock and checks no identity.
    pub fn count(path: &Path) -> Result<usize, JournalError> {
        check_regular(path)?;
        let file = File::open(path).map_err(failed("open", path))?;
        let count = count(BufReader::new(file)).map_err(failed("read", path))?;
        count.ok_or_else(|| JournalError::NoHeader {
            path: path.to_owned(),
        })
    }

    /// How many lines failed their check when the journal was opened, not counting an incomplete last line.
    pub fn damaged_lines(&self) -> usize {
        self.file.damaged_lines()
    }

    /// Wall time of the earlier sessions together, each from opening the journal to its last line. Meant for
    /// [`Experiment::elapsed_before`](crate::Experiment::elapsed_before).
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Adds wall time that no session of this journal spent, such as that of runs whose cases it takes over. The lines that follow count
    /// it.
    #[must_use]
    pub fn elapsed_before(mut self, elapsed: Duration) -> Self {
        self.elapsed += elapsed;
        self
    }

    /// Waits until all written lines are on the disk.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.file.sync()
    }
}

#[async_trait]
impl<D: Domain> Journal<D> for FileJournal {
    async fn append(&self, case: &CaseReport<D>) -> Result<(), JournalError> {
        let entry = WrittenEntry {
            elapsed: self.elapsed + self.opened.elapsed(),
            case,
        };
        let line = line::of(&entry).map_err(|source| JournalError::Unwritable {
            id: case.id.clone(),
            source,
        })?;
        self.file.append_line(line)
    }
}
