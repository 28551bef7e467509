//! Judges: they decide whether an answer is right.

mod chat;
mod error;
#[cfg(test)]
mod fuzz;
mod inquiry;
mod overlap;
#[cfg(test)]
mod overlap_tests;
mod panel;
mod relevance;
mod verdict;
#[cfg(test)]
mod verdict_tests;

use std::fmt::Debug;

use async_trait::async_trait;
use evals::Vote;
use evals_models::ModelIdentity;

use crate::Call;

pub use chat::{ChatJudge, RefusalJudge};
pub use error::{JudgeError, JudgeFailure, record_judged};
pub use inquiry::Inquiry;
pub use overlap::OverlapJudge;
pub(crate) use panel::Ballot;
pub use panel::{Panel, PanelError, Rule};
pub use relevance::{GradedPassage, RelevanceJudge};
pub use verdict::{finite, truth, whole};

pub use crate::reply_object::{Unreadable, Wanted, parse as parse_object};
pub use crate::shown::Shown;

/// Decides whether an answer is equivalent to a reference.
#[async_trait]
pub trait Judge: Debug + Send + Sync {
    /// The model, as reports name it.
    fn identity(&self) -> &ModelIdentity;

    /// Judges one answer.
    async fn judge(&self, judged: Judged<'_>) -> Result<Verdict, JudgeError>;
}

/// The input of a [`Judge`]. It does not reveal which system answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged<'a> {
    /// The question.
    pub question: &'a str,
    /// The reference answer; for an unanswerable question, a sentence that says so.
    pub reference: &'a str,
    /// Further answers that are right as well.
    pub accepted: &'a [String],
    /// Whether the documents contain the answer.
    pub answerable: bool,
    /// The answer without citation markers.
    pub answer: &'a str,
    /// Whether the answerer is known to have refused.
    pub refused: bool,
    /// The repetition, from 1.
    pub repeat: u32,
}

/// The verdict of a [`Judge`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the answer is equivalent to the reference.
    pub pass: bool,
    /// The judge's reason.
    pub reason: String,
    /// The calls behind the verdict.
    pub calls: Vec<Call>,
    /// The single votes, if several were counted.
    pub votes: Vec<Vote>,
}
