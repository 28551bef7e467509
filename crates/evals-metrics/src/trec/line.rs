//! The lines of a TREC file and their fields.

use std::str::SplitAsciiWhitespace;

use memchr::memchr_iter;

use super::ParseError;

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
pub(super) struct Line<'t> {
    /// Counts from 1, as editors do.
    pub(super) number: usize,
    text: &'t str,
}

impl<'t> Line<'t> {
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
