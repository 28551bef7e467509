//! Errors of chat models as rerankers.

use evals_models::{ChatError, Failure, ModelIdentity, RerankError};
use thiserror::Error;

use crate::PromptError;

/// Why a chat model did not rerank: the source of a [`RerankError`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RankingFailure {
    /// The model gave no reply.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The prompt cannot be filled in.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Neither the first reply nor the corrected one can be read.
    #[error("neither the first reply nor the corrected one can be read: {complaint}")]
    Unreadable {
        /// The fault of the last reply.
        complaint: &'static str,
    },
    /// The reply was cut, even with twice the budget.
    #[error("the reply was not finished within {output_tokens} tokens")]
    Cut {
        /// Tokens of the last reply, reasoning included.
        output_tokens: u64,
    },
    /// The provider withheld the text.
    #[error("the provider filtered the reply")]
    Filtered,
}

impl RankingFailure {
    /// Turns this failure into a [`RerankError`] of `model` for `texts` texts.
    pub(super) fn of(self, model: &ModelIdentity, texts: usize) -> RerankError {
        RerankError {
            model: model.clone(),
            texts,
            failure: match &self {
                Self::Chat(error) => error.failure,
                // It repeats for every question.
                Self::Prompt(_) => Failure::Terminal,
                Self::Unreadable { .. } | Self::Cut { .. } | Self::Filtered => Failure::Content,
            },
            source: Box::new(self),
        }
    }
}
