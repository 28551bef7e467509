//! What a person types for a label, each with its limit: their name, and a note.

use std::env;

use thiserror::Error;

/// Where systems keep the user's name.
const NAMES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];

/// The longest name, in characters.
const LONGEST: usize = 100;

/// The longest note, in characters.
const LONGEST_NOTE: usize = 10_000;

/// A text cannot name a labeller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum WrongName {
    #[error("the name of the labeller is empty; fill in your name")]
    Empty,
    #[error("the name of the labeller is longer than {LONGEST} characters; shorten it")]
    Long,
}

/// The name without white space around it.
pub(crate) fn checked_labeller(text: &str) -> Result<&str, WrongName> {
    let name = text.trim();
    if name.is_empty() {
        return Err(WrongName::Empty);
    }
    if name.chars().count() > LONGEST {
        return Err(WrongName::Long);
    }
    Ok(name)
}

/// The name of the user on this machine, if the system has it in the environment.
pub(crate) fn user_name() -> Option<String> {
    let names = NAMES.into_iter().filter_map(|name| env::var(name).ok());
    let mut names = names.map(|name| name.trim().to_owned());
    names.find(|name| !name.is_empty())
}

/// A note is too long to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the note is longer than 10,000 characters; shorten it")]
pub(crate) struct LongNote;

/// The note without white space around it.
pub(crate) fn checked_note(text: &str) -> Result<&str, LongNote> {
    let note = text.trim();
    if note.chars().count() > LONGEST_NOTE {
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
