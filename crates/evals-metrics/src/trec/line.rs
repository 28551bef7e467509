//! The lines of a TREC file, their fields, and the ids that every tool reads back as they were written.

use std::str::SplitAsciiWhitespace;

use memchr::memchr_iter;

use super::{ParseError, WriteError};

/// Refuses a carriage return that neither a line feed nor the end of the text follows.
pub(crate) fn refuse_lone_returns(text: &str) -> Result<(), ParseError> {
    let bytes = text.as_bytes();
    let is_lone = |at: &usize| !matches!(bytes.get(at + 1), None | Some(b'\n' | b'\r'));
    match memchr_iter(b'\r', bytes).find(is_lone) {
        Some(at) => Err(ParseError::CarriageReturn {
            line: 1 + memchr_iter(b'\n', &bytes[..at]).count(),
        }),
        None => Ok(()),
    }
}

/// One line of a file that has content.
#[derive(Clone, Copy)]
pub(super) struct TrecLine<'t> {
    /// Counts from 1, as editors do.
    pub(super) number: usize,
    text: &'t str,
}

impl<'t> TrecLine<'t> {
    /// The lines that have content and are no comments (`#`), ending with `\n` or `\r\n`.
    pub(super) fn all(text: &'t str) -> impl Iterator<Item = Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        text.split('\n')
            .enumerate()
            .map(|(index, text)| Self {
                number: index + 1,
                text,
            })
            .filter(|line| {
                line.fields()
                    .next()
                    .is_some_and(|first| !first.starts_with('#'))
            })
    }

    /// The fields, exactly `N`; `expected` describes them in the error.
    pub(super) fn exactly<const N: usize>(
        &self,
        expected: &'static str,
    ) -> Result<[&'t str; N], ParseError> {
        let mut fields = self.fields();
        let mut all = [""; N];
        for field in &mut all {
            *field = fields.next().ok_or_else(|| self.wrong_count(expected))?;
        }
        match fields.next() {
            None => Ok(all),
            Some(_) => Err(self.wrong_count(expected)),
        }
    }

    fn fields(&self) -> SplitAsciiWhitespace<'t> {
        self.text.split_ascii_whitespace()
    }

    fn wrong_count(&self, expected: &'static str) -> ParseError {
        ParseError::Fields {
            line: self.number,
            expected,
            found: self.fields().count(),
        }
    }
}

/// Whether an id reads back from a TREC file as it was written, here and in other tools.
///
/// Fields are separated by white space, and tools define that differently: `trec_eval` splits at
/// C's `isspace`, Python's `str.split` at every Unicode space and at the separators U+001C to
/// U+001F. C ends a text at NUL, and a byte order mark is skipped at the beginning of a file. A
/// plain id has none of these, and is not empty.
///
/// ```
/// use evals_metrics::trec;
///
/// assert!(trec::is_plain_id("doc-7"));
/// assert!(!trec::is_plain_id("Ed Wood"));
/// assert!(!trec::is_plain_id("Ed\u{a0}Wood"));
/// ```
pub fn is_plain_id(id: &str) -> bool {
    !id.is_empty() && !id.starts_with('\u{feff}') && !id.contains(breaks_a_field)
}

fn breaks_a_field(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\0' | '\u{1c}'..='\u{1f}')
}

/// Checks that a field reads back as it is written.
pub(super) fn check_field(field: &str) -> Result<&str, WriteError> {
    if is_plain_id(field) {
        return Ok(field);
    }
    Err(WriteError::Field {
        field: field.to_owned(),
    })
}
