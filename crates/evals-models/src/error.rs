use std::error::Error;

use thiserror::Error;

use crate::wording::counted;
use crate::{ModelIdentity, ShapeError};

/// Why texts could not be embedded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// The model, or the server it runs on, failed.
    #[error("`{model}` could not embed {}", counted(*texts, "text"))]
    Model {
        /// The model that was asked.
        model: ModelIdentity,
        /// Size of the batch.
        texts: usize,
        /// What the caller may do about it.
        failure: Failure,
        /// What happened.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The model answered with another number of vectors than it was given texts.
    #[error("`{model}` returned {} for {}", counted(*vectors, "vector"), counted(*texts, "text"))]
    Count {
        /// The model that was asked.
        model: ModelIdentity,
        /// Size of the batch.
        texts: usize,
        /// Rows that came back.
        vectors: usize,
    },
    /// The vectors do not have the dimension that the model states.
    #[error("embeddings are malformed")]
    Shape(#[from] ShapeError),
    /// More dimensions were asked for than the model has, or none.
    #[error("`{model}` has vectors of 1 to {available} dimensions, not {requested}")]
    Dimension {
        /// The model that was asked.
        model: ModelIdentity,
        /// The dimension in the settings.
        requested: usize,
        /// The most that the model has.
        available: usize,
    },
}

/// What the caller of a failed model may do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// Goes away by itself: overload, a lost connection. Worth another attempt after a pause.
    Transient,
    /// Stays until somebody changes something: credentials, quota, an unknown model. Stop asking.
    Terminal,
    /// Lies in this input; other inputs may still succeed.
    Content,
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
