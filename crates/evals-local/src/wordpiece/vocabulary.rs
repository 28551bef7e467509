//! The vocabulary, and finding the longest token in it.

use std::fmt;
use std::hash::Hasher;

use fnv::{FnvBuildHasher, FnvHashMap, FnvHasher};
use thiserror::Error;

/// Begins the entries that continue a word.
const CONTINUATION: &[u8] = b"##";
const UNKNOWN: &str = "[UNK]";

/// A list of tokens has no entry for text that other entries do not cover, so it cannot serve as a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("vocabulary has no `[UNK]`")]
pub struct VocabularyError;

/// The place of a piece in a word. The same letters are different tokens at the start and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PiecePlace {
    Start,
    Continuation,
}

/// The tokens of a `vocab.txt`.
pub(super) struct Vocabulary {
    pub(super) tokens: Vec<&'static str>,
    starts: FnvHashMap<&'static [u8], u32>,
    /// Without their [`CONTINUATION`].
    continuations: FnvHashMap<&'static [u8], u32>,
    /// Length of the longest entry in bytes.
    longest: usize,
    /// The token for text that no other token covers.
    pub(super) unknown: u32,
    /// FNV-1a hash over all entries in order.
    pub(super) digest: u64,
}

impl Vocabulary {
    /// Reads one token from each line. The first line is token 0.
    pub(super) fn new(lines: &'static str) -> Result<Self, VocabularyError> {
        let tokens: Vec<&str> = lines.lines().collect();
        let numbered = || (0_u32..).zip(&tokens);
        let unknown = numbered().find(|(_, token)| **token == UNKNOWN);
        let (unknown, _) = unknown.ok_or(VocabularyError)?;
        let mut starts =
            FnvHashMap::with_capacity_and_hasher(tokens.len(), FnvBuildHasher::default());
        let mut continuations = FnvHashMap::default();
        for (number, token) in numbered() {
            let token = token.as_bytes();
            match token.strip_prefix(CONTINUATION) {
                Some(piece) => continuations.entry(piece).or_insert(number),
                // The tokenizer splits a text at each `#`, so no word of a text begins with `##`.
                None => starts.entry(token).or_insert(number),
            };
        }
        let mut hasher = FnvHasher::default();
        hasher.write(lines.as_bytes());
        Ok(Self {
            longest: tokens.iter().map(|token| token.len()).max().unwrap_or(0),
            tokens,
            starts,
            continuations,
            unknown,
            digest: hasher.finish(),
        })
    }

    /// The longest token at the beginning of `bytes`, and how many bytes it covers.
    pub(super) fn longest_prefix(&self, bytes: &[u8], place: PiecePlace) -> Option<(u32, usize)> {
        let pieces = match place {
            PiecePlace::Start => &self.starts,
            PiecePlace::Continuation => &self.continuations,
        };
        let longest = bytes.len().min(self.longest);
        (1..=longest).rev().find_map(|length| {
            let token = pieces.get(&bytes[..length])?;
            Some((*token, length))
        })
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Vocabulary")
            .field("tokens", &self.tokens.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        Vocabulary::new("[UNK]\nun\nunder\n##un\n##a\r\na").unwrap()
    }

    #[test]
    fn the_longest_prefix_wins() {
        let vocabulary = vocabulary();
        assert_eq!(
            vocabulary.longest_prefix(b"underrun", PiecePlace::Start),
            Some((2, 5))
        );
        assert_eq!(
            vocabulary.longest_prefix(b"unde", PiecePlace::Start),
            Some((1, 2))
        );
        assert_eq!(vocabulary.longest_prefix(b"run", PiecePlace::Start), None);
        assert_eq!(vocabulary.longest_prefix(b"", PiecePlace::Start), None);
    }

    #[test]
    fn place_matters() {
        let vocabulary = vocabulary();
        assert_eq!(
            vocabulary.longest_prefix(b"under", PiecePlace::Continuation),
            Some((3, 2))
        );
        assert_eq!(
            vocabulary.longest_prefix(b"ab", PiecePlace::Continuation),
            Some((4, 1))
        );
        assert_eq!(
            vocabulary.longest_prefix(b"ab", PiecePlace::Start),
            Some((5, 1))
        );
    }

    #[test]
    fn an_unknown_token_is_required() {
        let error = Vocabulary::new("a\nb\n").unwrap_err();
        assert_eq!(error.to_string(), "vocabulary has no `[UNK]`");
        assert_eq!(Vocabulary::new("").unwrap_err(), VocabularyError);
    }

    #[test]
    fn order_is_part_of_the_digest() {
        let other = Vocabulary::new("[UNK]\nunder\nun\n##un\n##a\r\na").unwrap();
        assert_ne!(vocabulary().digest, other.digest);
    }
}
