//! Pure functions of texts: exact match, token F1, ROUGE-L, alignments, numbers, sentences.

pub mod alignment;
pub mod numbers;
pub mod rouge;
mod sentence;
pub mod squad;

pub use sentence::sentences;
