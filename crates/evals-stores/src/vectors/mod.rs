//! Vectors that were computed once, kept so that other runs, chunkings and search profiles need not compute them again.

mod cached_embedder;
mod database;
mod key;
mod store;
#[cfg(test)]
mod tests;

pub use cached_embedder::CachedEmbedder;
pub use key::{EmbeddingKey, ModelKey};
pub use store::{EmbeddingStore, StoredVector};
