//! What decides whether an answer is right.

mod chat;
mod error;
mod examiner;
#[cfg(test)]
mod fuzz;
mod overlap;
#[cfg(test)]
mod quotations;
mod refusal;
mod verdict;

use std::fmt::Debug;

use async_trait::async_trait;
use evals_models::ModelIdentity;

use crate::Call;

pub use chat::ChatJudge;
pub use error::{JudgeError, JudgeFailure};
pub use overlap::OverlapJudge;
pub use refusal::RefusalJudge;
pub use verdict::Unreadable;

/// Decides whether an answer is equivalent to a reference.
#[async_trait]
pub trait Judge: Debug + Send + Sync {
    /// The model, as reports name it.
    fn identity(&self) -> &ModelIdentity;

    /// Judges one answer.
    async fn judge(&self, judged: Judged<'_>) -> Result<Verdict, JudgeError>;
}

/// What a [`Judge`] may know: nothing of it tells which system answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judged<'a> {
    /// What was asked.
    pub question: &'a str,
    /// The right answer; for an unanswerable question a sentence that says so.
    pub reference: &'a str,
    /// Whether the documents hold the answer.
    pub answerable: bool,
    /// The answer without citation markers.
    pub answer: &'a str,
    /// Whether the answerer is known to have refused.
    pub refused: bool,
    /// The repetition, from 1.
    pub repeat: u32,
}

/// What a [`Judge`] decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the answer is equivalent to the reference.
    pub pass: bool,
    /// What decided it.
    pub reason: String,
    /// The calls that it took.
    pub calls: Vec<Call>,
}
