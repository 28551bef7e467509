use std::error::Error;
use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;
use thiserror::Error;

use crate::wording::counted;
use crate::{Failure, ModelIdentity, Usage};

/// A model that says how well texts answer a question, reading each together with the question.
#[async_trait]
pub trait Reranker: Debug + Send + Sync {
    /// Names the model as reports show it.
    fn identity(&self) -> &ModelIdentity;

    /// What a report should say of what was reranked so far: of how many pairs only the beginning was read.
    ///
    /// Default: nothing.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Scores `texts` for `query`: one finite number for each, in their order; higher is better. Scores of different queries
    /// cannot be compared. `repeat` is the repetition, from 1.
    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        repeat: u32,
    ) -> Result<Reranked, RerankError>;
}

/// What a reranker said.
#[derive(Clone, Debug, PartialEq)]
pub struct Reranked {
    /// One score for each text, in the order of the texts.
    pub scores: Vec<f32>,
    /// Tokens of the calls that it took, where the model tells.
    pub usage: Option<Usage>,
    /// Service time of the calls, without queueing and failed attempts.
    pub service_time: Duration,
    /// Whether all of it came from a cache.
    pub cached: bool,
}

/// Why texts could not be reranked.
#[derive(Debug, Error)]
#[error("`{model}` could not rank {}", counted(*texts, "text"))]
pub struct RerankError {
    /// The model that was asked.
    pub model: ModelIdentity,
    /// Number of texts.
    pub texts: usize,
    /// What the caller may do about it.
    pub failure: Failure,
    /// What happened.
    #[source]
    pub source: Box<dyn Error + Send + Sync>,
}
