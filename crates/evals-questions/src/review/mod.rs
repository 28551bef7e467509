//! What people say about the questions of a set: keep, edit or drop.

mod rate;
mod sample;
mod shown;
mod table;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use rate::{DefectRate, DefectRates};
pub use sample::{DrawnSample, sample};
pub use shown::{ShownDocument, ShownPart};
pub use table::{Import, ReviewError, export};

/// What a person says about a question: a line of `review.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Review {
    /// The question.
    pub id: String,
    /// What to do with it.
    pub verdict: ReviewVerdict,
    /// What is wrong with it, in the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defect: Option<String>,
    /// The question in better words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The right answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Who says so.
    pub author: String,
    /// When, in RFC 3339.
    pub time: String,
    /// The seed of the sample that the question was drawn in; `None` if the person picked it, so that rates leave it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Review {
    /// Puts an edit into the text and the answer of its question, and returns whether the question stays in the set.
    pub fn apply(&self, question: &mut String, answer: &mut Option<String>) -> bool {
        if self.verdict == ReviewVerdict::Edit {
            if let Some(better) = &self.question {
                question.clone_from(better);
            }
            *answer = self.answer.clone().or(answer.take());
        }
        self.verdict != ReviewVerdict::Drop
    }

    /// Whether `other` is the same but for its time.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let time = self.time.clone();
        *self
            == Self {
                time,
                ..other.clone()
            }
    }
}

/// What to do with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdict {
    /// It is right as it is.
    Keep,
    /// It is right with a different question or answer, and defective without.
    Edit,
    /// It is not worth mending.
    Drop,
}

impl ReviewVerdict {
    /// Every verdict.
    pub const ALL: [Self; 3] = [Self::Keep, Self::Edit, Self::Drop];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Edit => "edit",
            Self::Drop => "drop",
        }
    }

    /// The verdict of this name, in any case; `None` for any other word.
    pub fn named(name: &str) -> Option<Self> {
        let verdicts = Self::ALL.into_iter();
        let mut named = verdicts.filter(|it| it.name().eq_ignore_ascii_case(name.trim()));
        named.next()
    }
}

impl fmt::Display for ReviewVerdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The review of each question that counts: the last one, whoever wrote it.
pub fn current(reviews: &[Review]) -> BTreeMap<&str, &Review> {
    reviews.iter().map(|it| (it.id.as_str(), it)).collect()
}

/// A digest of everything that the reviews change in a set: SHA-256 of the edits and drops that count, by id. `None` if they change nothing.
pub fn changes_digest(reviews: &[Review]) -> Option<String> {
    let current = current(reviews);
    let changes = current
        .values()
        .filter(|it| it.verdict != ReviewVerdict::Keep);
    let changes: Vec<_> = changes
        .map(|it| (&it.id, it.verdict, &it.question, &it.answer))
        .collect();
    let json = serde_json::to_vec(&changes).expect("a list of texts is JSON");
    (!changes.is_empty()).then(|| hex::encode(Sha256::digest(json)))
}

#[cfg(test)]
mod tests;
