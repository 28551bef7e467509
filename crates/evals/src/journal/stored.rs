//! Reads the content of a journal.

use std::collections::BTreeSet;
use std::io::{self, BufRead};
use std::mem;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::line::{self, CHECKED_FROM, CountedEntry, Header, HeaderLine, START};

/// Ends an incomplete line, so the next line starts on its own and the incomplete one does not count as damaged. A complete
/// line ends with a brace.
pub(super) const CUT_MARK: &[u8] = b" cut\n";

/// The findings of reading a journal's file, besides its records.
///
/// Reading may go on where it ended, when the file has grown.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// `None` if nothing has been written yet.
    pub(super) header: Option<Header<Value>>,
    /// How many lines fail their check.
    pub(super) damaged: usize,
    /// The number of the first of them, from 1.
    pub(super) first_damaged: Option<usize>,
    /// How many lines ended.
    lines: usize,
    pub(super) end: End,
    /// How many bytes were read.
    pub(super) length: u64,
    pub(super) last_line: LineStart,
    /// The bytes after the last line feed that are no complete line yet.
    rest: Vec<u8>,
}

/// The start of a line, whose check tells it from other lines.
#[derive(Debug, Default)]
pub(super) struct LineStart {
    /// How many bytes stand before the line.
    pub(super) offset: u64,
    /// Its first bytes, up to the end of its check.
    pub(super) bytes: Vec<u8>,
}

/// How the file ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// After a line feed, or empty.
    #[default]
    Clean,
    /// After a complete line that has no line feed.
    Open,
    /// Within a line.
    Cut,
}

impl End {
    /// The bytes to write before the next line.
    pub(super) fn closing(self) -> &'static [u8] {
        match self {
            Self::Clean => b"",
            Self::Open => b"\n",
            Self::Cut => CUT_MARK,
        }
    }
}

impl Stored {
    /// Reads a journal to its end and hands over each record; `None` if the file does not begin as a journal.
    pub(super) fn read<T: DeserializeOwned>(
        file: impl BufRead,
        record: &mut impl FnMut(T),
    ) -> io::Result<Option<Self>> {
        let mut stored = Self::default();
        let is_journal = stored.read_on(file, record)?;
        Ok(is_journal.then_some(stored))
    }

    /// Reads from where the last reading ended, and hands over each further record; `false` if the file does not begin as a
    /// journal.
    ///
    /// A complete line counts even without its line feed. An incomplete one waits for its remaining bytes.
    pub(super) fn read_on<T: DeserializeOwned>(
        &mut self,
        mut file: impl BufRead,
        record: &mut impl FnMut(T),
    ) -> io::Result<bool> {
        while self.fill(&mut file)? {
            let mut bytes = mem::take(&mut self.rest);
            self.last_line = LineStart {
                offset: self.length - bytes.len() as u64,
                bytes: bytes.iter().take(CHECKED_FROM).copied().collect(),
            };
            let Some(line) = bytes.strip_suffix(b"\n") else {
                let begins_well = bytes.starts_with(START) || START.starts_with(&bytes);
                if self.read_line(&bytes, record) {
                    self.end = End::Open;
                } else {
                    self.end = End::Cut;
                    self.rest = bytes;
                }
                return Ok(self.header.is_some() || begins_well);
            };
            self.lines += 1;
            let is_read = self.end == End::Open && line.is_empty();
            self.end = End::Clean;
            if !is_read && !bytes.ends_with(CUT_MARK) && !self.read_line(line, record) {
                if self.header.is_none() {
                    return Ok(false);
                }
                self.damaged += 1;
                self.first_damaged = self.first_damaged.or(Some(self.lines));
            }
            bytes.clear();
            self.rest = bytes;
        }
        Ok(true)
    }

    /// Adds bytes up to the next line feed or the end of the file; `false` if there are none.
    fn fill(&mut self, file: &mut impl BufRead) -> io::Result<bool> {
        let before = self.rest.len();
        let filled = file.read_until(b'\n', &mut self.rest);
        // After an error, too, the next reading goes on behind the bytes that came.
        let new = self.rest.len() - before;
        self.length += new as u64;
        filled?;
        Ok(new > 0)
    }

    /// Reads a line; `false` if it is damaged.
    fn read_line<T: DeserializeOwned>(&mut self, line: &[u8], record: &mut impl FnMut(T)) -> bool {
        if self.header.is_none() {
            self.header = line::read(line).map(|HeaderLine { journal }| journal);
            return self.header.is_some();
        }
        let Some(read) = line::read(line) else {
            return false;
        };
        record(read);
        true
    }
}

/// Counts the runs of cases in a journal; `None` if the file does not begin as a journal.
pub(super) fn count(file: impl BufRead) -> io::Result<Option<usize>> {
    let mut seen = BTreeSet::new();
    let stored = Stored::read(file, &mut |CountedEntry { case }| {
        seen.insert((case.id, case.repeat));
    })?;
    Ok(stored.and_then(|stored| stored.header).map(|_| seen.len()))
}
