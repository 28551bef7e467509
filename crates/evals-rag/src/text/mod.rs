//! Pure functions of texts: exact match, token F1, ROUGE-L, alignments, numbers, sentences.

pub mod alignment;
pub mod numbers;
pub mod rouge;
mod sentence;
pub mod squad;
mod words;

pub use sentence::sentences;
pub(crate) use words::{content_words, words};

/// The harmonic mean of precision and recall; 0 if both are 0.
pub fn f1(precision: f64, recall: f64) -> f64 {
    if precision + recall > 0.0 {
        2.0 * precision * recall / (precision + recall)
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::f1;

    #[test]
    fn f1_is_the_harmonic_mean() {
        // 2 · 0.5 · 0.25 / 0.75.
        assert!((f1(0.5, 0.25) - 1.0 / 3.0).abs() < 1e-15);
        assert!(f1(0.0, 0.0).abs() < 1e-15);
    }
}
