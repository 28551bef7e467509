//! Answerers: they answer questions from passages.

mod agent;
#[cfg(test)]
mod agent_tests;
mod chat;
mod citations;
mod error;
mod extractive;
#[cfg(test)]
mod fuzz;
mod idf;
mod query_recorder;
mod refusals;

use std::fmt::Debug;

use async_trait::async_trait;
use evals_models::{ChatReply, Finish, ModelIdentity};

use crate::{Call, Passage};

pub use agent::{AgentAnswered, AgentAnswerer, AgentSearch};
pub use chat::ChatAnswerer;
pub(crate) use chat::complete;
pub use citations::Citations;
pub use error::{AnswerError, AnswerFailure};
pub use extractive::ExtractiveAnswerer;
#[cfg(test)]
pub(crate) use idf::Idf;
pub use query_recorder::QueryRecorder;
pub use refusals::Refusals;

/// Answers questions from passages.
#[async_trait]
pub trait Answerer: Debug + Send + Sync {
    /// The model, as reports name it.
    fn identity(&self) -> &ModelIdentity;

    /// Answers from `passages`, best first. The answer cites them by their position, from 1.
    ///
    /// `repeat` is the repetition, from 1. Each repetition is a new answer: it never reuses another repetition's stored
    /// reply.
    async fn answer(
        &self,
        question: &str,
        passages: &[Passage],
        repeat: u32,
    ) -> Result<Answered, AnswerError>;
}

/// The answer of an [`Answerer`].
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The answer with its citation markers; never empty.
    pub text: String,
    /// Whether the answer is a refusal: it says that the passages do not contain the answer.
    pub refused: bool,
    /// Why the model stopped writing.
    pub finish: Finish,
    /// The calls behind it.
    pub calls: Vec<Call>,
}

impl Answered {
    /// The answer in a complete reply.
    fn of(reply: ChatReply, refusals: &Refusals, calls: Vec<Call>) -> Self {
        Self {
            refused: refusals.refuses(&reply.text),
            text: reply.text.trim().to_owned(),
            finish: reply.finish,
            calls,
        }
    }
}
