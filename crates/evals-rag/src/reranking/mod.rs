//! Reranking: a model that reads question and passage together reorders search results.
//!
//! [`RerankedSearcher`] wraps any searcher and asks any [`Reranker`](evals_models::Reranker). Two rerankers here use a chat
//! model: the [`PointwiseReranker`] asks for a score of each passage, the [`ListwiseReranker`] for the order of many at
//! once. Both put texts between delimiters that the texts cannot contain, ask for replies that follow a JSON schema, and
//! send an unreadable reply back once. If that fails too, the search and its case fail: a reranker never makes up an order.

#[cfg(test)]
mod fuzz;
mod listwise;
mod pointwise;
mod remembered;
mod searcher;
#[cfg(test)]
mod tests;

use evals_models::{ModelIdentity, RerankError, Reranked, Usage};

use crate::Call;
use crate::judging::JudgeError;

pub use listwise::ListwiseReranker;
pub use pointwise::PointwiseReranker;
pub use remembered::RememberedReranker;
pub use searcher::RerankedSearcher;

/// The scores, with the tokens and the service time of the calls behind them.
fn reranked(scores: Vec<f32>, calls: &[Call]) -> Reranked {
    let usages = calls.iter().filter_map(|call| call.usage);
    Reranked {
        scores,
        usage: usages.reduce(Usage::plus),
        service_time: calls.iter().map(|call| call.service_time).sum(),
        cached: !calls.is_empty() && calls.iter().all(|call| call.cached),
    }
}

/// The failure of a chat model that was asked about `texts` texts.
fn failed(error: JudgeError, model: &ModelIdentity, texts: usize) -> RerankError {
    RerankError {
        model: model.clone(),
        texts,
        failure: error.failure.failure(),
        source: Box::new(error),
    }
}
