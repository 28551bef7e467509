//! Putting what a search found into a better order, by a model that reads question and passage together.
//!
//! [`RerankedSearcher`] stands before any searcher and asks any [`Reranker`](evals_models::Reranker). Two of them are made
//! from a chat model here: the [`PointwiseReranker`] has each passage scored alone, the [`ListwiseReranker`] has many put into
//! order at once. Both show the model texts between delimiters that the texts cannot contain, check what comes back against a
//! JSON schema, and send a reply that cannot be read back once. After that the search has failed, and so has its case: an
//! order that the model did not give is never made up.

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
