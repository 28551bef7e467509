//! The fields of lines, split at white space as `trec_eval` splits them.

use memchr::memchr;

use super::rows::FileRow;
use crate::trec::ParseError;

/// Goes through lines once: it finds their ends and their fields at the same time.
pub(super) struct Lines<'t> {
    text: &'t str,
    at: usize,
    /// The number of the line that was read last.
    number: usize,
    /// Where it began.
    start: usize,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, first: usize) -> Self {
        Self {
            text,
            at: 0,
            number: first - 1,
            start: 0,
        }
    }

    /// Appends a row for each line that has content.
    pub(super) fn append<const N: usize>(
        &mut self,
        rows: &mut Vec<FileRow<'t>>,
        expected: &'static str,
        read: impl Fn([&'t str; N], bool, usize) -> Result<Option<(&'t str, f64)>, ParseError>,
    ) -> Result<(), ParseError> {
        while self.next_line() {
            let fields = self.next_fields::<N>();
            let row = match fields {
                Some((fields, has_more)) => read(fields, has_more, self.number)?,
                None => None,
            };
            let Some((id, value)) = row else {
                return Err(self.wrong_fields(expected));
            };
            rows.push(FileRow {
                id,
                value,
                line: self.number,
            });
        }
        Ok(())
    }

    /// Goes to the first field of the next line that has content.
    fn next_line(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() {
            self.number += 1;
            self.start = self.at;
            self.skip_blanks();
            match bytes.get(self.at) {
                None => return false,
                Some(b'\n') => self.at += 1,
                Some(b'#') => self.end_line(),
                Some(_) => return true,
            }
        }
        false
    }

    /// The next `N` fields of the line, and whether more follow; `None` if there are fewer. Goes to the end of the line.
    pub(super) fn next_fields<const N: usize>(&mut self) -> Option<([&'t str; N], bool)> {
        let bytes = self.text.as_bytes();
        let mut fields = [""; N];
        for field in &mut fields {
            self.skip_blanks();
            let start = self.at;
            while bytes.get(self.at).is_some_and(|byte| !is_blank(*byte)) {
                self.at += 1;
            }
            if start == self.at {
                return None;
            }
            *field = &self.text[start..self.at];
        }
        self.skip_blanks();
        let has_more = bytes.get(self.at).is_some_and(|byte| *byte != b'\n');
        if has_more {
            self.end_line();
        } else {
            self.at = bytes.len().min(self.at + 1);
        }
        Some((fields, has_more))
    }

    /// Skips the white space inside of a line.
    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        let is_inside = |byte: &u8| is_blank(*byte) && *byte != b'\n';
        while bytes.get(self.at).is_some_and(is_inside) {
            self.at += 1;
        }
    }

    fn end_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
    }

    fn wrong_fields(&self, expected: &'static str) -> ParseError {
        let rest = &self.text[self.start..];
        let line = rest.split('\n').next().unwrap_or_default();
        ParseError::Fields {
            line: self.number,
            expected,
            found: line.split_ascii_whitespace().count(),
        }
    }
}

/// White space of C, which `trec_eval` splits at.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether a line is neither blank nor a comment of `trec_eval` 10.
pub(super) fn has_content(line: &str) -> bool {
    let first = line.bytes().find(|&byte| !is_blank(byte));
    first.is_some_and(|first| first != b'#')
}

pub(super) fn first_field(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| c.is_ascii() && is_blank(c as u8));
    let end = line.bytes().position(is_blank).unwrap_or(line.len());
    &line[..end]
}
