//! Scores of rerankers that were computed once, kept so that other commands need not compute them again.

mod cached_reranker;
mod database;
mod key;
mod store;
#[cfg(test)]
mod tests;

pub use cached_reranker::CachedReranker;
pub use key::{RankerKey, ScoreKey};
pub use store::{ScoreStore, StoredScore};
