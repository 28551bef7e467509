//! Rerankers, and the scores that they return.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use crate::chat::Usage;
use crate::error::RerankError;
use crate::identity::ModelIdentity;

/// A model that scores how well texts answer a query.
#[async_trait]
pub trait Reranker: Debug + Send + Sync {
    /// Names the model as reports show it.
    fn identity(&self) -> &ModelIdentity;

    /// Notes for a report about the pairs reranked so far, such as how many were truncated.
    ///
    /// Default: none.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// Scores `texts` for `query`: one finite number for each text, in their order. Higher is better. Scores of different queries
    /// cannot be compared. `repeat` is the repetition, from 1.
    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        repeat: u32,
    ) -> Result<Reranked, RerankError>;
}

/// The scores of some texts for a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Reranked {
    /// One score for each text, in the order of the texts.
    pub scores: Vec<f32>,
    /// Tokens of the calls, if the model reports them.
    pub usage: Option<Usage>,
    /// Service time of the calls, without queueing and failed attempts.
    pub service_time: Duration,
    /// Whether all scores were stored before.
    pub cached: bool,
}
