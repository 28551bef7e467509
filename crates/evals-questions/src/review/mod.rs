//! What people say about the questions of a set: keep, edit or drop.

mod rate;
mod sample;
mod shown;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::Item;

pub use rate::{DefectRate, DefectRates};
pub use sample::sample;
pub use shown::{ShownDocument, ShownPart};

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

/// The longest text of a review, in characters.
const LONGEST: usize = 10_000;

impl Review {
    /// Says that a text is longer.
    pub const TOO_LONG: &str =
        "a note, a question and an answer may each have at most 10,000 characters; shorten it";

    /// The review without white space around its texts, and without an edit that changes nothing.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub fn checked(self, item: &Item) -> Result<Self, &'static str> {
        let filled = |text: Option<String>| {
            let text = text.map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        let review = Self {
            defect: filled(self.defect),
            question: filled(self.question).filter(|it| *it != item.question),
            answer: filled(self.answer).filter(|it| *it != item.answer),
            ..self
        };
        let texts = [&review.defect, &review.question, &review.answer];
        let is_long = |text: &String| text.chars().count() > LONGEST;
        let is_long = texts.into_iter().flatten().any(is_long);
        let is_edited = review.question.is_some() || review.answer.is_some();
        let is_edit = review.verdict == ReviewVerdict::Edit;
        Err(if is_long {
            Self::TOO_LONG
        } else if is_edit && !is_edited {
            "nothing is edited: change the question or the answer, or keep or drop the question"
        } else if is_edited && !is_edit {
            "the question or the answer is changed: say edit, or take the change back"
        } else if review.answer.is_some() && !item.is_answerable() {
            "the question is unanswerable, so it has no answer: drop it if documents answer it"
        } else {
            return Ok(review);
        })
    }

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

    /// Whether its author has not said the same already, as the last word about the question so far.
    pub fn is_new(&self, before: &[Self]) -> bool {
        let mut said = before.iter().rev();
        let said = said.find(|it| it.id == self.id && it.author == self.author);
        said.is_none_or(|said| !said.says_the_same(self))
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

impl fmt::Display for ReviewVerdict {
    /// The name in files.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(formatter)
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
