//! The note of a label. However it is given, one limit holds.

use thiserror::Error;

/// The longest note, in characters.
pub(super) const LONGEST: usize = 10_000;

/// A note is too long to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the note is longer than 10,000 characters; shorten it")]
pub(crate) struct LongNote;

/// The note without white space around it.
pub(crate) fn checked_note(text: &str) -> Result<&str, LongNote> {
    let note = text.trim();
    if note.chars().count() > LONGEST {
        return Err(LongNote);
    }
    Ok(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_at_most_as_many_characters_as_the_message_says() {
        let longest = "é".repeat(10_000);
        assert_eq!(checked_note(&format!(" {longest}\n")), Ok(&*longest));
        assert_eq!(checked_note(&format!("{longest}é")), Err(LongNote));
    }
}
