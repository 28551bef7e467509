//! Counting the tokens of a chunk without tokenizing it again.

use std::ops::Range;

use evals_models::Tokenizer;
use text_splitter::ChunkSizer;

/// Measures slices of one text in tokens, whose boundaries are computed once.
///
/// For each chunk, the splitter asks for the size of dozens of overlapping slices, and a tokenizer would start over for each of them.
/// A slice's size is the number of tokens it touches; a token on a boundary counts on both sides.
pub(crate) struct TokenSizer {
    text_address: usize,
    tokens: Vec<Range<usize>>,
}

impl TokenSizer {
    pub(crate) fn new(text: &str, tokenizer: &dyn Tokenizer) -> Self {
        Self {
            text_address: text.as_ptr() as usize,
            tokens: tokenizer.boundaries(text),
        }
    }
}

impl ChunkSizer for TokenSizer {
    /// `slice` must be a slice of the text given to [`TokenSizer::new`]: its address tells its place.
    fn size(&self, slice: &str) -> usize {
        let start = slice.as_ptr() as usize - self.text_address;
        let end = start + slice.len();
        let first = self.tokens.partition_point(|token| token.end <= start);
        let last = self.tokens.partition_point(|token| token.start < end);
        last.saturating_sub(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Pairs;

    impl Tokenizer for Pairs {
        fn identity(&self) -> &'static str {
            "pairs of bytes"
        }

        fn boundaries(&self, text: &str) -> Vec<Range<usize>> {
            (0..text.len() / 2).map(|at| 2 * at..2 * at + 2).collect()
        }
    }

    #[test]
    fn counts_the_tokens_that_a_slice_touches() {
        let text = "aabbccdd".to_owned();
        let sizer = TokenSizer::new(&text, &Pairs);
        assert_eq!(sizer.size(&text), 4);
        assert_eq!(sizer.size(&text[2..6]), 2);
        assert_eq!(sizer.size(&text[1..3]), 2);
        assert_eq!(sizer.size(&text[4..4]), 0);
    }
}
