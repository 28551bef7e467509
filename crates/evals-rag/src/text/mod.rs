//! Pure functions of texts: exact match, token F1, ROUGE-L, alignments, numbers, sentences.

pub mod alignment;
pub mod numbers;
pub mod rouge;
mod sentence;
pub mod squad;
mod words;

pub use sentence::sentences;
pub(crate) use words::{content_words, words};
