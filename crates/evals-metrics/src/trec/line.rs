use super::ParseError;

/// One line of a file, split into fields.
pub(super) struct Line<'t> {
    /// Counts from 1, as editors do.
    pub(super) number: usize,
    fields: Vec<&'t str>,
}

impl<'t> Line<'t> {
    /// The lines that have content.
    pub(super) fn all(text: &'t str) -> impl Iterator<Item = Self> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        text.lines()
            .enumerate()
            .map(|(index, line)| Self {
                number: index + 1,
                fields: line.split_ascii_whitespace().collect(),
            })
            .filter(|line| !line.fields.is_empty())
    }

    /// Exactly `N` fields.
    pub(super) fn exactly<const N: usize>(
        &self,
        expected: &'static str,
    ) -> Result<[&'t str; N], ParseError> {
        self.fields
            .as_slice()
            .try_into()
            .map_err(|_| self.wrong_count(expected))
    }

    /// The first `N` fields; more may follow.
    pub(super) fn at_least<const N: usize>(
        &self,
        expected: &'static str,
    ) -> Result<[&'t str; N], ParseError> {
        self.fields
            .first_chunk()
            .copied()
            .ok_or_else(|| self.wrong_count(expected))
    }

    fn wrong_count(&self, expected: &'static str) -> ParseError {
        ParseError::Fields {
            line: self.number,
            expected,
            found: self.fields.len(),
        }
    }
}
