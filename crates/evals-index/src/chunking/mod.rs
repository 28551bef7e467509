//! Splitting documents into chunks.

mod chunker;
mod window;

pub use chunker::Chunker;
