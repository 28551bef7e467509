use std::error::Error;
use std::time::Duration;

use thiserror::Error;

use crate::{Failure, ModelIdentity, RerankError, Reranked};

/// A text's score cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the score of text {index} is not a finite number")]
struct ScoreError {
    index: usize,
}

/// Gives scores back where all of them can be compared.
pub(super) fn comparable(scores: Vec<f32>) -> Result<Vec<f32>, Box<dyn Error + Send + Sync>> {
    match scores.iter().position(|score| !score.is_finite()) {
        Some(index) => Err(ScoreError { index }.into()),
        None => Ok(scores),
    }
}

/// The answer of a reranker that took `service_time` for `texts` texts.
pub(super) fn reranked(
    model: &ModelIdentity,
    texts: usize,
    scores: Result<Vec<f32>, Box<dyn Error + Send + Sync>>,
    service_time: Duration,
) -> Result<Reranked, RerankError> {
    let scores = scores.map_err(|source| RerankError {
        model: model.clone(),
        texts,
        failure: match source.downcast_ref::<ScoreError>() {
            Some(_) => Failure::Content,
            None => Failure::Terminal,
        },
        source,
    })?;
    Ok(Reranked {
        scores,
        usage: None,
        service_time,
        cached: false,
    })
}
