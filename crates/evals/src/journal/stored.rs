//! Reads the content of a journal.

use std::collections::btree_map::Entry as Place;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};
use std::time::Duration;

use serde_json::Value;

use super::line::{self, CountedEntry, Entry, Header, HeaderLine, START};
use crate::{CaseReport, Domain};

/// Ends an incomplete line, so the next line starts on its own and the incomplete one does not count as damaged. A complete
/// line ends with a brace.
pub(super) const CUT_MARK: &[u8] = b" cut\n";

/// The content of a journal's file.
#[derive(Debug)]
pub(super) struct Stored<D: Domain> {
    /// `None` if nothing has been written yet.
    pub(super) header: Option<Header<Value>>,
    /// The last line of each repetition of a case, in the order of their first lines.
    pub(super) cases: Vec<CaseReport<D>>,
    /// Wall time of all sessions so far.
    pub(super) elapsed: Duration,
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

impl<D: Domain> Stored<D> {
    /// Reads a journal to its end; `None` if the file does not begin as a journal.
    pub(super) fn read(mut file: impl BufRead) -> io::Result<Option<Self>> {
        let mut stored = Self {
            header: None,
            cases: Vec::new(),
            elapsed: Duration::ZERO,
            damaged: 0,
            end: End::Clean,
        };
        let mut seen = Seen::new();
        let mut bytes = Vec::new();
        while file.read_until(b'\n', &mut bytes)? > 0 {
            let Some(line) = bytes.strip_suffix(b"\n") else {
                return Ok(stored.read_rest(&bytes, &mut seen));
            };
            if !bytes.ends_with(CUT_MARK) && !stored.read_line(line, &mut seen) {
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
    fn read_rest(mut self, rest: &[u8], seen: &mut Seen) -> Option<Self> {
        self.end = if self.read_line(rest, seen) {
            End::Open
        } else {
            End::Cut
        };
        let begins_well = rest.starts_with(START) || START.starts_with(rest);
        (self.header.is_some() || begins_well).then_some(self)
    }

    /// Reads a line; `false` if it is damaged.
    fn read_line(&mut self, line: &[u8], seen: &mut Seen) -> bool {
        if self.header.is_none() {
            self.header = line::read(line).map(|HeaderLine { journal }| journal);
            return self.header.is_some();
        }
        let Some(Entry { elapsed, case }) = line::read::<Entry<D>>(line) else {
            return false;
        };
        self.elapsed = self.elapsed.max(elapsed);
        match seen.entry((case.id.clone(), case.repeat)) {
            Place::Vacant(vacant) => {
                vacant.insert(self.cases.len());
                self.cases.push(case);
            }
            // A later line comes from a later attempt.
            Place::Occupied(occupied) => self.cases[*occupied.get()] = case,
        }
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

/// The position of each repetition of a case in the list.
type Seen = BTreeMap<(crate::CaseId, u32), usize>;
