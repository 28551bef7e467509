//! Why a model did not rerank.

use evals_models::{ChatError, Failure, ModelIdentity, RerankError};
use thiserror::Error;

use crate::PromptError;

/// Why a chat model put no passages into order: the source of a [`RerankError`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RankingFailure {
    /// The model gave no reply.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The prompt cannot be used.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// Neither the reply nor the one to the complaint about it can be read.
    #[error("neither the first reply nor the corrected one can be read: {complaint}")]
    Unreadable {
        /// What is wrong with the last reply.
        complaint: &'static str,
    },
    /// The reply was cut, and cut again with twice the budget.
    #[error("the reply was not finished within {output_tokens} tokens")]
    Cut {
        /// Tokens that were written in the end, reasoning included.
        output_tokens: u64,
    },
    /// The provider kept the text back.
    #[error("the provider filtered the reply")]
    Filtered,
}

impl RankingFailure {
    /// This failure of `model` to rank `texts` texts.
    pub(super) fn of(self, model: &ModelIdentity, texts: usize) -> RerankError {
        RerankError {
            model: model.clone(),
            texts,
            failure: match &self {
                Self::Chat(error) => error.failure,
                // It is wrong for every question in the same way.
                Self::Prompt(_) => Failure::Terminal,
                Self::Unreadable { .. } | Self::Cut { .. } | Self::Filtered => Failure::Content,
            },
            source: Box::new(self),
        }
    }
}
