//! Pure functions of texts: exact match, token F1, ROUGE-L, numbers, sentences.

pub mod numbers;
pub mod rouge;
mod sentence;
pub mod squad;

pub use sentence::sentences;
