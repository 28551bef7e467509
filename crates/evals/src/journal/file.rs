//! The journal in a file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use evals_guard::regular_file::other_kind;
use serde_json::Value;

use super::line::{self, Header, HeaderLine, VERSION, WrittenEntry};
use super::stored::{End, Stored, count};
use super::{Journal, JournalError};
use crate::{CaseReport, Domain, differences};

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
    path: PathBuf,
    writer: Mutex<Writer>,
    opened: Instant,
    elapsed: Duration,
    damaged_lines: usize,
}

/// Writes at the end of the file.
#[derive(Debug)]
struct Writer {
    file: File,
    end: End,
    synced: bool,
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
        let path = path.into();
        let opened = Instant::now();
        let file = locked(&path)?;
        let stored = Stored::read(BufReader::new(&file)).map_err(failed("read", &path))?;
        let Some(stored) = stored else {
            return Err(JournalError::NoHeader { path });
        };
        let mut writer = Writer {
            file,
            end: stored.end,
            synced: true,
        };
        match &stored.header {
            Some(header) => check(header, identity, &path)?,
            None => writer.start(identity).map_err(failed("write to", &path))?,
        }
        let journal = Self {
            path,
            writer: Mutex::new(writer),
            opened,
            elapsed: stored.elapsed,
            damaged_lines: stored.damaged,
        };
        Ok((journal, stored.cases))
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
        self.damaged_lines
    }

    /// Wall time of the earlier sessions together, each from opening the journal to its last line. Meant for
    /// [`Experiment::elapsed_before`](crate::Experiment::elapsed_before).
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Waits until all written lines are on the disk.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.lock().sync().map_err(failed("sync", &self.path))
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        // A panic cannot leave an unnoticed partial line: the end is marked as cut before each write.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<D: Domain> Journal<D> for FileJournal {
    async fn append(&self, case: &CaseReport<D>) -> Result<(), JournalError> {
        let entry = WrittenEntry {
            elapsed: self.elapsed + self.opened.elapsed(),
            case,
        };
        let mut line = Vec::new();
        line::write(&mut line, &entry).map_err(|source| JournalError::Unwritable {
            id: case.id.clone(),
            source,
        })?;
        // One short write into the page cache is too quick to need a blocking thread.
        let written = self.lock().append(line);
        written.map_err(failed("write to", &self.path))
    }
}

impl Writer {
    fn start(&mut self, identity: &Value) -> io::Result<()> {
        let journal = Header {
            version: VERSION,
            identity,
        };
        let mut line = Vec::new();
        line::write(&mut line, &HeaderLine { journal })?;
        self.append(line)
    }

    /// Writes a whole line at once.
    fn append(&mut self, mut line: Vec<u8>) -> io::Result<()> {
        line.splice(..0, self.end.closing().iter().copied());
        self.end = End::Cut;
        self.synced = false;
        self.file.write_all(&line)?;
        self.end = End::Clean;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        if !self.synced {
            self.file.sync_data()?;
            self.synced = true;
        }
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // A caller that needs the error calls `sync` first.
        let _ = self.sync();
        // If a child process is just being started, it would inherit the lock when the file is only closed.
        let _ = self.file.unlock();
    }
}

/// Refuses anything but a regular file: reading a pipe or a device may never end.
fn check_regular(path: &Path) -> Result<(), JournalError> {
    match fs::metadata(path) {
        Ok(metadata) => match other_kind(&metadata) {
            None => Ok(()),
            Some(found) => Err(JournalError::NotRegular {
                path: path.to_owned(),
                found,
            }),
        },
        // Opening the file reports this error.
        Err(_) => Ok(()),
    }
}

/// Opens and locks the file for this process.
fn locked(path: &Path) -> Result<File, JournalError> {
    check_regular(path)?;
    let mut options = OpenOptions::new();
    let options = options.read(true).append(true).create(true);
    let file = options.open(path).map_err(failed("open", path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(failed("lock", path)(error)),
    }
}

/// Checks that a journal belongs to this run.
fn check(header: &Header<Value>, identity: &Value, path: &Path) -> Result<(), JournalError> {
    let path = || path.to_owned();
    if header.version != VERSION {
        return Err(JournalError::UnknownVersion {
            path: path(),
            found: header.version,
        });
    }
    match differences(&header.identity, identity).into_iter().next() {
        Some(difference) => Err(JournalError::AnotherRun {
            path: path(),
            difference: Box::new(difference),
        }),
        None => Ok(()),
    }
}

fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> JournalError {
    move |source| JournalError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
