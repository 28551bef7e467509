//! Stored vectors of embedding models, which other runs, chunkings and search profiles use again.

mod cached_embedder;
mod entry;
mod key;
#[cfg(test)]
mod tests;

pub use cached_embedder::CachedEmbedder;
pub use entry::{EmbeddingStore, StoredVector};
pub use key::ModelKey;
