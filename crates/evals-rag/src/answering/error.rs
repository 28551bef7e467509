//! Why a question was not answered.

use std::error::Error;
use std::fmt;

use evals_models::{ChatError, EmbedError, Failure, ModelIdentity};
use thiserror::Error;

use crate::{Call, PromptError};

/// A question that was not answered, with the calls that it took nevertheless.
///
/// Shows its failure's message and causes.
#[derive(Debug)]
pub struct AnswerError {
    /// What happened.
    pub failure: AnswerFailure,
    /// Calls that returned, and have to be paid for.
    pub calls: Vec<Call>,
}

/// Why a question was not answered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnswerFailure {
    /// The model gave no reply.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The sentences of the passages could not be embedded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The prompt cannot be used.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The reply ended by itself and has no text.
    #[error("`{model}` replied without text")]
    Empty {
        /// The model that was asked.
        model: ModelIdentity,
    },
    /// The reply was cut off, so it is not the answer that the model meant to give.
    #[error("`{model}` did not finish its answer within {output_tokens} tokens")]
    Cut {
        /// The model that was asked.
        model: ModelIdentity,
        /// Tokens that it wrote, reasoning included.
        output_tokens: u64,
    },
    /// The provider withheld the text.
    #[error("the provider of `{model}` filtered the answer")]
    Filtered {
        /// The model that was asked.
        model: ModelIdentity,
    },
}

impl AnswerFailure {
    /// What may be done about it.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Chat(error) => error.failure,
            Self::Embed(EmbedError::Model { failure, .. }) => *failure,
            // Other embedding errors and a prompt's errors are wrong for every question in the same way.
            Self::Embed(_) | Self::Prompt(_) => Failure::Terminal,
            Self::Empty { .. } | Self::Cut { .. } | Self::Filtered { .. } => Failure::Content,
        }
    }

    /// This failure after `calls`.
    pub(crate) fn after(self, calls: Vec<Call>) -> AnswerError {
        AnswerError {
            failure: self,
            calls,
        }
    }
}

impl fmt::Display for AnswerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(formatter)
    }
}

impl Error for AnswerError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.failure.source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_embeds_wrongly_ends_the_run_and_one_that_is_away_does_not() {
        let model = ModelIdentity::new("test", "embedder");
        let away = EmbedError::Model {
            model: model.clone(),
            texts: 3,
            failure: Failure::Transient,
            source: "connection reset".into(),
        };
        let error = AnswerFailure::from(away).after(Vec::new());
        assert_eq!(error.failure.failure(), Failure::Transient);
        assert_eq!(error.to_string(), "`test:embedder` could not embed 3 texts");
        assert_eq!(error.source().unwrap().to_string(), "connection reset");
        let wrong = EmbedError::Count {
            model,
            texts: 3,
            vectors: 2,
        };
        assert_eq!(AnswerFailure::from(wrong).failure(), Failure::Terminal);
    }
}
