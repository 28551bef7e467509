//! Batches of texts for one request each.

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::tokens;

/// Splits texts into batches of at most `max_texts` texts and `max_tokens` estimated tokens, in order. A text with more tokens is a
/// batch of its own.
pub(crate) fn cut(
    texts: &[impl AsRef<str>],
    max_texts: NonZeroUsize,
    max_tokens: NonZeroUsize,
) -> Vec<Range<usize>> {
    let most = u64::try_from(max_tokens.get()).unwrap_or(u64::MAX);
    let mut batches = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        let tokens = tokens::at_most(text.as_ref());
        let full = index - start == max_texts.get() || sum + tokens > most;
        if full && index > start {
            batches.push(start..index);
            (start, sum) = (index, 0);
        }
        sum += tokens;
    }
    if start < texts.len() {
        batches.push(start..texts.len());
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_at(lengths: &[usize], max_texts: usize, max_tokens: usize) -> Vec<Range<usize>> {
        let texts: Vec<String> = lengths
            .iter()
            .map(|length| "a".repeat(length * 3))
            .collect();
        let most = |number| NonZeroUsize::new(number).unwrap();
        cut(&texts, most(max_texts), most(max_tokens))
    }

    #[test]
    fn texts_and_tokens_both_end_a_batch() {
        assert_eq!(cut_at(&[1, 1, 1, 1, 1], 2, 100), [0..2, 2..4, 4..5]);
        assert_eq!(cut_at(&[4, 4, 4, 9, 1], 64, 10), [0..2, 2..3, 3..5]);
    }

    #[test]
    fn a_text_beyond_the_limit_goes_alone() {
        assert_eq!(cut_at(&[1, 50, 1], 64, 10), [0..1, 1..2, 2..3]);
        assert_eq!(cut_at(&[50], 64, 10), vec![0..1; 1]);
    }

    #[test]
    fn no_texts_are_no_batches() {
        assert!(cut_at(&[], 64, 10).is_empty());
    }
}
