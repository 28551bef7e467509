//! Splitting documents into chunks.

mod chunker;
mod token_sizer;
mod window;

pub use chunker::Chunker;
