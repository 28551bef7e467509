//! Checking the scores of a call, and returning them.

use std::error::Error;
use thiserror::Error;

use crate::workers::{NoTokens, Timed};
use evals_models::{Failure, ModelIdentity, RerankError, Reranked};

/// The score of a text cannot be compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the score of text {index} is not a finite number")]
struct ScoreError {
    index: usize,
}

/// Checks that all scores can be compared.
pub(crate) fn comparable(
    scores: Timed<Vec<f32>>,
) -> Result<Timed<Vec<f32>>, Box<dyn Error + Send + Sync>> {
    match scores.value.iter().position(|score| !score.is_finite()) {
        Some(index) => Err(ScoreError { index }.into()),
        None => Ok(scores),
    }
}

/// The result of a call to a reranker with `texts` texts.
pub(crate) fn reranked(
    model: &ModelIdentity,
    texts: usize,
    scores: Result<Timed<Vec<f32>>, Box<dyn Error + Send + Sync>>,
) -> Result<Reranked, RerankError> {
    let scores = scores.map_err(|source| RerankError {
        model: model.clone(),
        texts,
        failure: if source.is::<ScoreError>() || source.is::<NoTokens>() {
            Failure::Content
        } else {
            Failure::Terminal
        },
        source,
    })?;
    Ok(Reranked {
        scores: scores.value,
        usage: None,
        service_time: scores.took,
        cached: false,
    })
}
