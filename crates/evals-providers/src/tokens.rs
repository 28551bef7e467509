//! How many tokens a text is, where only its server's model could tell.

/// The usual estimate of English prose: a token for every 4 characters, rounded up.
pub(super) fn estimate(text: &str) -> u64 {
    count(text.chars().count()).div_ceil(4)
}

/// More tokens than practically any text has: one for every 3 bytes, which is one for each Chinese character.
pub(super) fn at_most(text: &str) -> u64 {
    count(text.len()).div_ceil(3)
}

fn count(length: usize) -> u64 {
    u64::try_from(length).expect("no text is longer than 2^64")
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
}
