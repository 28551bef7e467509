//! Plain ids, which every tool reads back as they were written.

use super::WriteError;

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
