//! A tokenizer of words.

use std::ops::Range;

use evals_models::Tokenizer;

/// Splits at white space: each word is one token.
#[derive(Debug)]
pub(crate) struct Words;

impl Tokenizer for Words {
    fn identity(&self) -> &'static str {
        "words"
    }

    fn boundaries(&self, text: &str) -> Vec<Range<usize>> {
        text.split_whitespace()
            .map(|word| {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                start..start + word.len()
            })
            .collect()
    }
}
