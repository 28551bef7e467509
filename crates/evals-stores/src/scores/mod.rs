//! Stored scores of rerankers, which other commands use again.

mod cached_reranker;
mod entry;
mod key;
#[cfg(test)]
mod tests;

pub use cached_reranker::CachedReranker;
pub use entry::{ScoreStore, StoredScore};
pub use key::RankerKey;
