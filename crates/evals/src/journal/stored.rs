//! Reads the content of a journal.

use std::collections::BTreeSet;
use std::io::{self, BufRead};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::line::{self, CountedEntry, Header, HeaderLine, START};

/// Ends an incomplete line, so the next line starts on its own and the incomplete one does not count as damaged. A complete
/// line ends with a brace.
pub(super) const CUT_MARK: &[u8] = b" cut\n";

/// The findings of reading a journal's file, besides its records.
#[derive(Debug)]
pub(super) struct Stored {
    /// `None` if nothing has been written yet.
    pub(super) header: Option<Header<Value>>,
    /// How many lines fail their check.
    pub(super) damaged: usize,
    pub(super) end: End,
}

/// How the file ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// After a line feed, or empty.
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
        mut file: impl BufRead,
        record: &mut impl FnMut(T),
    ) -> io::Result<Option<Self>> {
        let mut stored = Self {
            header: None,
            damaged: 0,
            end: End::Clean,
        };
        let mut bytes = Vec::new();
        while file.read_until(b'\n', &mut bytes)? > 0 {
            let Some(line) = bytes.strip_suffix(b"\n") else {
                return Ok(stored.read_rest(&bytes, record));
            };
            if !bytes.ends_with(CUT_MARK) && !stored.read_line(line, record) {
                if stored.header.is_none() {
                    return Ok(None);
                }
                stored.damaged += 1;
            }
            bytes.clear();
        }
        Ok(Some(stored))
    }

    /// Reads the bytes after the last line feed.
    fn read_rest<T: DeserializeOwned>(
        mut self,
        rest: &[u8],
        record: &mut impl FnMut(T),
    ) -> Option<Self> {
        self.end = if self.read_line(rest, record) {
            End::Open
        } else {
            End::Cut
        };
        let begins_well = rest.starts_with(START) || START.starts_with(rest);
        (self.header.is_some() || begins_well).then_some(self)
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
pub(super) fn count(mut file: impl BufRead) -> io::Result<Option<usize>> {
    let mut seen = BTreeSet::new();
    let mut has_header = false;
    let mut bytes = Vec::new();
    while file.read_until(b'\n', &mut bytes)? > 0 {
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        if !has_header {
            if line::read::<HeaderLine<Value>>(line).is_none() {
                return Ok(None);
            }
            has_header = true;
        } else if let Some(CountedEntry { case }) = line::read(line) {
            seen.insert((case.id, case.repeat));
        }
        bytes.clear();
    }
    Ok(has_header.then_some(seen.len()))
}
