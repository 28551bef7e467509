//! Tokenizers.

use std::fmt::Debug;
use std::ops::Range;

/// Counts the tokens of a text, and finds where the text may be cut.
///
/// Special tokens such as `[CLS]` are not counted, because they do not belong to the text.
pub trait Tokenizer: Debug + Send + Sync {
    /// Names the algorithm and the vocabulary. Tokenizers of equal identity cut every text at the same places.
    fn identity(&self) -> &str;

    /// The bytes of `text` that each token stands for, in order; starts and ends never decrease and lie on character boundaries.
    ///
    /// Whitespace between tokens belongs to none. Tokens that share one character share its range.
    fn boundaries(&self, text: &str) -> Vec<Range<usize>>;

    /// Number of tokens in `text`.
    fn count(&self, text: &str) -> usize {
        self.boundaries(text).len()
    }

    /// The longest prefix of `text` that ends with a token and has at most `max_tokens` tokens; all of `text` if it has no more.
    fn truncate<'t>(&self, text: &'t str, max_tokens: usize) -> &'t str {
        let tokens = self.boundaries(text);
        let Some(first_left_out) = tokens.get(max_tokens) else {
            return text;
        };
        // A token that shares its last character with the first one left out cannot be kept without it.
        let kept = tokens[..max_tokens]
            .iter()
            .rfind(|token| token.end <= first_left_out.start);
        &text[..kept.map_or(0, |token| token.end)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character is a token, `ä` two, a blank none.
    #[derive(Debug)]
    struct Letters;

    impl Tokenizer for Letters {
        fn identity(&self) -> &'static str {
            "letters"
        }

        fn boundaries(&self, text: &str) -> Vec<Range<usize>> {
            let tokens = text.char_indices().filter(|(_, letter)| *letter != ' ');
            tokens
                .flat_map(|(at, letter)| {
                    vec![at..at + letter.len_utf8(); if letter == 'ä' { 2 } else { 1 }]
                })
                .collect()
        }
    }

    #[test]
    fn truncates_after_a_token() {
        assert_eq!(Letters.count("ab cd"), 4);
        assert_eq!(Letters.truncate("ab cd", 2), "ab");
        assert_eq!(Letters.truncate("ab cd", 3), "ab c");
        assert_eq!(Letters.truncate("ab cd ", 4), "ab cd ");
        assert_eq!(Letters.truncate("ab", 0), "");
    }

    #[test]
    fn never_cuts_a_character_that_is_several_tokens() {
        assert_eq!(Letters.truncate("aä", 2), "a");
        assert_eq!(Letters.truncate("aä", 3), "aä");
        assert_eq!(Letters.truncate("ä", 1), "");
    }
}
