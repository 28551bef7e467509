//! Errors of answerers.

use evals::TaskError;
use evals_models::{ChatError, EmbedError, Failure, ModelIdentity};
use thiserror::Error;

use crate::failures::{AfterCalls, class};
use crate::{PromptError, SearchError};

/// The error of an unanswered question, with the calls made for it.
pub type AnswerError = AfterCalls<AnswerFailure>;

/// Errors of answerers.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AnswerFailure {
    /// The model gave no reply.
    #[error(transparent)]
    Chat(#[from] ChatError),
    /// The sentences of the passages could not be embedded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The prompt cannot be filled in.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// A search of an agent failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// An agent called tools until no step was left.
    #[error(
        "`{model}` called tools in each of its {steps} steps and did not answer (`qa.agent.max_steps`)"
    )]
    NoAnswer {
        /// The model.
        model: ModelIdentity,
        /// The limit on its steps.
        steps: u32,
    },
    /// The reply is complete but has no text.
    #[error("`{model}` replied without text")]
    Empty {
        /// The model.
        model: ModelIdentity,
    },
    /// The reply was cut off, so the answer is incomplete.
    #[error("`{model}` did not finish its answer within {output_tokens} tokens")]
    Cut {
        /// The model.
        model: ModelIdentity,
        /// Tokens written, reasoning included.
        output_tokens: u64,
    },
    /// The provider withheld the text.
    #[error("the provider of `{model}` filtered the answer")]
    Filtered {
        /// The model.
        model: ModelIdentity,
    },
}

impl AnswerFailure {
    /// The class of the failure: transient, terminal or content.
    pub fn failure(&self) -> Failure {
        match self {
            Self::Chat(error) => error.failure,
            Self::Embed(EmbedError::Model { failure, .. }) => *failure,
            // Other embedding errors and prompt errors repeat for every question.
            Self::Embed(_) | Self::Prompt(_) => Failure::Terminal,
            Self::Search(error) if error.is_of_every_search() => Failure::Terminal,
            Self::Search(error) => error
                .reranking()
                .map_or(Failure::Content, |error| error.failure),
            Self::Empty { .. }
            | Self::Cut { .. }
            | Self::Filtered { .. }
            | Self::NoAnswer { .. } => Failure::Content,
        }
    }
}

impl AnswerError {
    /// The case's failure, with its class.
    pub(crate) fn of_task(self) -> TaskError {
        let class = class(self.failure.failure());
        TaskError::new(self).classed(class)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn wrong_embeddings_end_the_run_and_connection_errors_do_not() {
        let model = ModelIdentity::new("test", "embedder");
        let away = EmbedError::Model {
            model: model.clone(),
            texts: 3,
            failure: Failure::Transient,
            source: "connection reset".into(),
        };
        let error = AnswerError::from(AnswerFailure::from(away));
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
