//! Follows a journal that another process writes.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::mem;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::JournalError;
use super::line::{Header, VERSION};
use super::records::{check_regular, failed};
use super::stored::Stored;
use crate::{CaseReport, Domain};

/// Reads the cases of a journal while another process adds to it, each line once.
///
/// It neither locks nor changes the file. An incomplete last line waits for its remaining bytes, and lines that fail their check
/// are counted and skipped, as [`FileJournal::open`](crate::FileJournal::open) does. If the file was truncated or replaced, the
/// next reading starts again from its first line.
///
/// Memory does not grow with the journal, because the caller keeps the cases.
#[derive(Debug)]
pub struct JournalTail {
    path: PathBuf,
    stored: Stored,
    is_replaced: bool,
}

/// What a reading found.
#[derive(Debug)]
pub struct NewCases<D: Domain> {
    /// Whether the cases of earlier readings no longer count: the file is another one, or a reading failed.
    pub is_replaced: bool,
    /// The cases that were added since, in the order of the file. A later line of a repetition replaces an earlier one.
    pub cases: Vec<JournalCase<D>>,
}

/// A case with the time when it ended.
#[derive(Clone, Debug, Deserialize)]
#[serde(bound = "")]
pub struct JournalCase<D: Domain> {
    /// Wall time of all sessions up to the end of the case.
    #[serde(
        rename = "elapsed_seconds",
        deserialize_with = "crate::json::seconds::deserialize"
    )]
    pub elapsed: Duration,
    /// The case.
    pub case: CaseReport<D>,
}

impl JournalTail {
    /// Follows the journal at a path from its first line. The file is opened at the first reading.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            stored: Stored::default(),
            is_replaced: false,
        }
    }

    /// The cases that were added since the last reading; all of them at the first.
    ///
    /// After an error, the next reading starts again from the first line.
    pub fn read<D: Domain>(&mut self) -> Result<NewCases<D>, JournalError> {
        let read = self.read_on();
        if read.is_err() {
            self.start_again();
        }
        read
    }

    fn read_on<D: Domain>(&mut self) -> Result<NewCases<D>, JournalError> {
        let path = self.path.clone();
        check_regular(&path)?;
        let mut file = File::open(&path).map_err(failed("open", &path))?;
        if !self
            .is_continued(&mut file)
            .map_err(failed("read", &path))?
        {
            self.start_again();
        }
        let start = SeekFrom::Start(self.stored.length);
        file.seek(start).map_err(failed("read", &path))?;
        let mut cases = Vec::new();
        let mut record = |case: JournalCase<D>| cases.push(case);
        let read = self.stored.read_on(BufReader::new(file), &mut record);
        if !read.map_err(failed("read", &path))? {
            return Err(JournalError::NoHeader { path });
        }
        if let Some(Header { version, .. }) = self.stored.header
            && version != VERSION
        {
            return Err(JournalError::UnknownVersion {
                path,
                found: version,
            });
        }
        Ok(NewCases {
            is_replaced: mem::take(&mut self.is_replaced),
            cases,
        })
    }

    fn start_again(&mut self) {
        self.stored = Stored::default();
        self.is_replaced = true;
    }

    /// The journal's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many lines failed their check so far.
    pub fn damaged_lines(&self) -> usize {
        self.stored.damaged
    }

    /// Whether the file still holds the last line that was read, where it was.
    fn is_continued(&self, file: &mut File) -> io::Result<bool> {
        if file.metadata()?.len() < self.stored.length {
            return Ok(false);
        }
        let line = &self.stored.last_line;
        file.seek(SeekFrom::Start(line.offset))?;
        let mut found = Vec::with_capacity(line.bytes.len());
        file.take(line.bytes.len() as u64).read_to_end(&mut found)?;
        Ok(found == line.bytes)
    }
}
