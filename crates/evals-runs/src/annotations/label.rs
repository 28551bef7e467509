//! A label: the verdict of a person about one answer.

use std::env;
use std::fmt;
use std::str::FromStr;

use evals::CaseId;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::sample::Sampling;
use super::texts::Digests;

/// Where systems keep the user's name.
const NAMES: [&str; 3] = ["USER", "LOGNAME", "USERNAME"];

/// The longest name of a labeller, in characters.
const LONGEST_NAME: usize = 100;

/// The longest note, in characters.
pub(super) const LONGEST_NOTE: usize = 10_000;

/// The verdict of a person about one answer of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Label {
    /// The case of the answer.
    pub case: CaseId,
    /// The repetition of the case, from 1.
    pub repeat: u32,
    /// The measure whose verdicts the label is compared with; `None` for a run without a judge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// What the person says.
    pub verdict: LabelVerdict,
    /// A remark, or an empty text.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Who says it.
    pub labeller: String,
    /// UTC, as in a manifest.
    pub time: String,
    /// Whether the labeller had not seen the judge's verdict.
    pub blind: bool,
    /// Whether the labeller saw the judge's verdict, or agreement with it, after giving this label: another verdict about the
    /// answer is then not blind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revealed: bool,
    /// How the answer came into the sample.
    pub sampling: Sampling,
    /// What the label is about.
    pub digests: Digests,
}

/// What a person may say about an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelVerdict {
    /// The answer is right.
    Pass,
    /// The answer is wrong.
    Fail,
    /// The person cannot tell.
    CannotSay,
}

impl Label {
    /// Whether both are of the same person, about the same answer and judged by the same judge.
    pub fn replaces(&self, earlier: &Self) -> bool {
        self.is_of_answer(earlier) && self.digests == earlier.digests
    }

    /// The same label after those in the file. The verdict of a labeller who has seen the judge's is not blind. One that was given
    /// before stays what it was, whatever happens to its note.
    #[must_use]
    pub fn after<'l>(mut self, earlier: impl IntoIterator<Item = &'l Self>) -> Self {
        let earlier = earlier.into_iter().filter(|it| self.is_of_answer(it));
        let (last, has_seen) = earlier.fold((None, false), |(_, has_seen), it| {
            (Some(it), has_seen || it.revealed)
        });
        self.blind = match last {
            Some(last) if last.verdict == self.verdict && last.digests == self.digests => {
                last.blind
            }
            _ => self.blind && !has_seen,
        };
        self
    }

    fn is_of_answer(&self, other: &Self) -> bool {
        self.labeller == other.labeller
            && self.case == other.case
            && self.repeat == other.repeat
            && self.measure == other.measure
    }
}

impl LabelVerdict {
    /// The verdicts as a CSV file holds them.
    pub(super) const WRITTEN: &str = "`pass`, `fail` or `cannot say`";

    /// Whether the answer passes, if the labeller could say.
    pub fn passes(self) -> Option<bool> {
        match self {
            Self::Pass => Some(true),
            Self::Fail => Some(false),
            Self::CannotSay => None,
        }
    }
}

impl fmt::Display for LabelVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::CannotSay => "cannot say",
        })
    }
}

impl FromStr for LabelVerdict {
    type Err = ();

    /// Numbers are refused: 0 is a failure to some, and the key for "cannot say" on the labelling page.
    fn from_str(text: &str) -> Result<Self, ()> {
        match text.trim().to_lowercase().as_str() {
            "pass" => Ok(Self::Pass),
            "fail" => Ok(Self::Fail),
            "cannot say" | "cannot-say" => Ok(Self::CannotSay),
            _ => Err(()),
        }
    }
}

/// A text cannot name a labeller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum WrongName {
    #[error("the name of the labeller is empty; fill in your name")]
    Empty,
    #[error("the name of the labeller is longer than {LONGEST_NAME} characters; shorten it")]
    Long,
}

/// The name without white space around it.
pub fn checked_labeller(text: &str) -> Result<&str, WrongName> {
    let name = text.trim();
    if name.is_empty() {
        return Err(WrongName::Empty);
    }
    if name.chars().count() > LONGEST_NAME {
        return Err(WrongName::Long);
    }
    Ok(name)
}

/// The name of the user on this machine, if the system has it in the environment.
pub fn user_name() -> Option<String> {
    let names = NAMES.into_iter().filter_map(|name| env::var(name).ok());
    let mut names = names.map(|name| name.trim().to_owned());
    names.find(|name| !name.is_empty())
}

/// A note is too long to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the note is longer than 10,000 characters; shorten it")]
pub struct LongNote;

/// The note without white space around it.
pub fn checked_note(text: &str) -> Result<&str, LongNote> {
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
