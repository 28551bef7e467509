//! Errors of models, and how the caller may handle them.

use std::error::Error;

use evals_messages::quantity;
use thiserror::Error;

use crate::embeddings::ShapeError;
use crate::identity::ModelIdentity;

/// How the caller may handle the failure of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// It passes by itself, such as an overload or a lost connection. Try again after a pause.
    Transient,
    /// It stays until somebody changes something, such as credentials, a quota or the name of the model. Stop.
    Terminal,
    /// This input caused it. Others may succeed.
    Content,
}

/// Why texts could not be embedded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model or its server failed.
    #[error("`{model}` could not embed {}", quantity::of(*texts, "text"))]
    Model {
        /// The model.
        model: ModelIdentity,
        /// Number of texts in the batch.
        texts: usize,
        /// How the caller may handle it.
        failure: Failure,
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The model did not return one vector for each text.
    #[error("`{model}` returned {} for {}", quantity::of(*vectors, "vector"), quantity::of(*texts, "text"))]
    Count {
        /// The model.
        model: ModelIdentity,
        /// Number of texts in the batch.
        texts: usize,
        /// Number of vectors returned.
        vectors: usize,
    },
    /// The values are not rows of the dimension that the model states.
    #[error("the vectors are malformed")]
    Shape(#[from] ShapeError),
    /// The requested dimension is 0, or larger than that of the model.
    #[error("`{model}` can return vectors of 1 to {available} dimensions, not {requested}")]
    Dimension {
        /// The model.
        model: ModelIdentity,
        /// The dimension that the settings ask for.
        requested: usize,
        /// The dimension of the model.
        available: usize,
    },
}

impl EmbedError {
    /// Whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Model {
                failure: Failure::Transient,
                ..
            }
        )
    }
}

/// Why texts could not be reranked.
#[derive(Debug, Error)]
#[error("`{model}` could not rank {}", quantity::of(*texts, "text"))]
pub struct RerankError {
    /// The model.
    pub model: ModelIdentity,
    /// Number of texts.
    pub texts: usize,
    /// How the caller may handle it.
    pub failure: Failure,
    /// The cause.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

/// Why a chat model gave no reply.
#[derive(Debug, Error)]
#[error("`{model}` gave no answer")]
pub struct ChatError {
    /// The model.
    pub model: ModelIdentity,
    /// How the caller may handle it. A transient failure is returned only after all attempts failed.
    pub failure: Failure,
    /// The cause, and for a terminal failure the setting to change.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(failure: Failure) -> EmbedError {
        EmbedError::Model {
            model: ModelIdentity::new("ollama", "qwen3"),
            texts: 2,
            failure,
            source: "connection reset".into(),
        }
    }

    #[test]
    fn only_transient_failures_are_worth_another_attempt() {
        assert!(failed(Failure::Transient).is_transient());
        assert!(!failed(Failure::Terminal).is_transient());
        assert!(!failed(Failure::Content).is_transient());
        assert!(
            !EmbedError::from(ShapeError {
                values: 4,
                dimension: 3
            })
            .is_transient()
        );
    }

    #[test]
    fn messages_leave_the_cause_to_the_source() {
        let error = failed(Failure::Transient);
        assert_eq!(error.to_string(), "`ollama:qwen3` could not embed 2 texts");
        assert_eq!(
            error.source().map(ToString::to_string).as_deref(),
            Some("connection reset")
        );
    }
}
