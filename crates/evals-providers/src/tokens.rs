//! Tokens: estimates of texts, because only the server has the model's tokenizer, and sums of the counts that servers send.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The usual estimate of English prose: a token for every 4 characters, rounded up.
pub(crate) fn estimate(text: &str) -> u64 {
    count(text.chars().count()).div_ceil(4)
}

/// An upper bound for practically any text: a token for every 3 bytes, which is one for each Chinese character.
pub(crate) fn at_most(text: &str) -> u64 {
    count(text.len()).div_ceil(3)
}

fn count(length: usize) -> u64 {
    u64::try_from(length).expect("no text is longer than 2^64")
}

/// The sum of the tokens that the server read, by the counts in its answers.
#[derive(Debug, Default)]
pub(crate) struct TokensRead {
    counted: AtomicU64,
    /// Whether any answer had no count.
    uncounted: AtomicBool,
}

impl TokensRead {
    pub(crate) fn add(&self, tokens: Option<u64>) {
        match tokens {
            Some(tokens) => {
                self.counted.fetch_add(tokens, Ordering::Relaxed);
            }
            None => self.uncounted.store(true, Ordering::Relaxed),
        }
    }

    /// The sum, or `None` if any answer had no count.
    pub(crate) fn sum(&self) -> Option<u64> {
        let uncounted = self.uncounted.load(Ordering::Relaxed);
        (!uncounted).then(|| self.counted.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_words_and_no_ideographs_are_more() {
        // Nine common words and a full stop are ten tokens for every byte-pair vocabulary.
        let words = "The quick brown fox jumps over the lazy dog.";
        assert!(10 <= at_most(words));
        // At worst each ideograph is a token of its own.
        assert_eq!(at_most("你好世界"), 4);
    }

    #[test]
    fn estimates_round_up() {
        assert_eq!(estimate(""), 0);
        assert_eq!(estimate("abcd"), 1);
        assert_eq!(estimate("abcde"), 2);
    }

    #[test]
    fn a_sum_with_a_part_unknown_is_unknown() {
        let read = TokensRead::default();
        assert_eq!(read.sum(), Some(0));
        read.add(Some(5));
        read.add(Some(7));
        assert_eq!(read.sum(), Some(12));
        read.add(None);
        assert_eq!(read.sum(), None);
    }
}
