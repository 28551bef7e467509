//! A file of records that resumes: a header with an identity, then one line for each record.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use evals_guard::regular_file::other_kind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::JournalError;
use super::line::{self, Header, HeaderLine, VERSION};
use super::stored::{End, Stored};
use crate::differences;

/// An append-only file with one line for each record: what [`FileJournal`](crate::FileJournal) keeps its cases in, for records of
/// any type.
///
/// Every line is a JSON object with a CRC-32 of its remaining bytes. The first line holds an identity. A record is a value that
/// JSON writes as an object.
///
/// The operating system has a line before [`append`](Self::append) returns, so no record is lost when the process is killed. A
/// power failure may lose the last lines, because the file is synced to the disk by [`sync`](Self::sync) and on drop, not line by
/// line.
///
/// The file is locked while it is open. On file systems without locks, opening it is an error.
#[derive(Debug)]
pub struct RecordFile {
    path: PathBuf,
    writer: Mutex<Writer>,
    damaged_lines: usize,
}

/// Writes at the end of the file.
#[derive(Debug)]
struct Writer {
    file: File,
    end: End,
    synced: bool,
}

impl RecordFile {
    /// Creates the file, or opens it to go on, and hands its records to `record` in the order of the file.
    ///
    /// A file of another identity is an error that names the first value that differs. An incomplete last line is ignored, and so
    /// are lines that fail their check ([`damaged_lines`](Self::damaged_lines)). Nothing is ever removed from the file.
    pub fn open<T: DeserializeOwned>(
        path: impl Into<PathBuf>,
        identity: &Value,
        mut record: impl FnMut(T),
    ) -> Result<Self, JournalError> {
        let path = path.into();
        let file = locked(&path)?;
        let stored = Stored::read(BufReader::new(&file), &mut record);
        let Some(stored) = stored.map_err(failed("read", &path))? else {
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
        Ok(Self {
            path,
            writer: Mutex::new(writer),
            damaged_lines: stored.damaged,
        })
    }

    /// Hands over the records of a file in its order, and neither locks nor changes it, so another process may be writing it.
    /// Returns how many lines fail their check, not counting an incomplete last line.
    pub fn read<T: DeserializeOwned>(
        path: &Path,
        mut record: impl FnMut(T),
    ) -> Result<usize, JournalError> {
        check_regular(path)?;
        let file = File::open(path).map_err(failed("open", path))?;
        let stored = Stored::read(BufReader::new(file), &mut record);
        match stored.map_err(failed("read", path))? {
            Some(stored) => Ok(stored.damaged),
            None => Err(JournalError::NoHeader {
                path: path.to_owned(),
            }),
        }
    }

    /// The same, but a line that fails its check is an error that names the line, for files in which no record may be missing.
    pub fn read_intact<T: DeserializeOwned>(
        path: &Path,
        mut record: impl FnMut(T),
    ) -> Result<(), JournalError> {
        check_regular(path)?;
        let file = File::open(path).map_err(failed("open", path))?;
        let stored = Stored::read(BufReader::new(file), &mut record);
        let path = || path.to_owned();
        let stored = stored.map_err(failed("read", &path()))?;
        let stored = stored.ok_or_else(|| JournalError::NoHeader { path: path() })?;
        match stored.first_damaged {
            None => Ok(()),
            Some(line) => Err(JournalError::Damaged { path: path(), line }),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many lines failed their check when the file was opened, not counting an incomplete last line.
    pub fn damaged_lines(&self) -> usize {
        self.damaged_lines
    }

    /// Adds a record at the end.
    pub fn append(&self, record: &impl Serialize) -> Result<(), JournalError> {
        let line = line::of(record).map_err(|source| JournalError::UnwritableRecord {
            path: self.path.clone(),
            source,
        })?;
        self.append_line(line)
    }

    /// Adds a line made by [`line::of`].
    pub(super) fn append_line(&self, line: Vec<u8>) -> Result<(), JournalError> {
        // One short write into the page cache is too quick to need a blocking thread.
        let written = self.lock().append(line);
        written.map_err(failed("write to", &self.path))
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

impl Writer {
    fn start(&mut self, identity: &Value) -> io::Result<()> {
        let journal = Header {
            version: VERSION,
            identity,
        };
        self.append(line::of(&HeaderLine { journal })?)
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
pub(super) fn check_regular(path: &Path) -> Result<(), JournalError> {
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
    options.read(true).append(true).create(true);
    open_alone(&mut options, path)
}

/// Opens the file and locks it, which leaves others the right to read.
#[cfg(not(windows))]
fn open_alone(options: &mut OpenOptions, path: &Path) -> Result<File, JournalError> {
    use std::fs::TryLockError;

    let file = options.open(path).map_err(failed("open", path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(failed("lock", path)(error)),
    }
}

/// Opens the file so that others may only read it. A lock of Windows would refuse readers, too.
#[cfg(windows)]
fn open_alone(options: &mut OpenOptions, path: &Path) -> Result<File, JournalError> {
    use std::os::windows::fs::OpenOptionsExt as _;

    const FILE_SHARE_READ: u32 = 1;
    const ERROR_SHARING_VIOLATION: i32 = 32;

    let opened = options.share_mode(FILE_SHARE_READ).open(path);
    opened.map_err(|error| match error.raw_os_error() {
        Some(ERROR_SHARING_VIOLATION) => JournalError::Locked {
            path: path.to_owned(),
        },
        _ => failed("open", path)(error),
    })
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

pub(super) fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> JournalError {
    move |source| JournalError::Io {
        action,
        path: path.to_owned(),
        source,
    }
}
