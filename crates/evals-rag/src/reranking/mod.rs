//! Reranking: a model that reads question and passage together reorders search results.
//!
//! [`RerankedSearcher`] wraps any searcher and asks any [`Reranker`](evals_models::Reranker). Two rerankers here use a chat
//! model: the [`PointwiseReranker`] asks for a score of each passage, the [`ListwiseReranker`] for the order of many at
//! once. Both put texts between delimiters that the texts cannot contain, ask for replies that follow a JSON schema, and
//! send an unreadable reply back once. If that fails too, the search and its case fail: a reranker never makes up an order.

mod error;
#[cfg(test)]
mod fuzz;
mod inquiry;
mod listwise;
mod pointwise;
mod remembered;
mod searcher;
#[cfg(test)]
mod tests;

pub use error::RankingFailure;
pub use listwise::ListwiseReranker;
pub use pointwise::PointwiseReranker;
pub use remembered::RememberedReranker;
pub use searcher::RerankedSearcher;
