//! The vocabulary, and finding the longest token in it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use thiserror::Error;

use super::fnv::Fnv;

/// Begins the entries that continue a word.
const CONTINUATION: &str = "##";
const UNKNOWN: &str = "[UNK]";
/// Most bytes of an entry. BERT's longest has 18.
const LONGEST: usize = 64;

/// Why a list of tokens cannot serve as a vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// It has no entry for text that other entries do not cover.
    #[error("vocabulary has no `[UNK]`")]
    NoUnknown,
    /// It has more entries than there are token numbers.
    #[error("vocabulary has {entries} entries, more than 32 bits can number")]
    TooLarge {
        /// Number of lines.
        entries: usize,
    },
    /// An entry is too long.
    #[error("line {line} of the vocabulary has {length} bytes, more than {LONGEST}")]
    TooLong {
        /// The line of the entry, from 1.
        line: usize,
        /// Its length in bytes.
        length: usize,
    },
}

/// The place of a piece in a word. The same letters are different tokens at the start and later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Start,
    Continuation,
}

/// Tokens by their bytes: a hash table over the lines of a `vocab.txt`, so that loading it copies no text.
pub(super) struct Vocabulary {
    lines: Cow<'static, str>,
    /// Each token's bytes in `lines`.
    entries: Vec<Range<usize>>,
    /// Open addressing, at most half full.
    slots: Vec<Slot>,
    /// Length of the longest entry in bytes.
    longest: usize,
    unknown: u32,
}

/// A token and the upper half of its hash, which avoids nearly all comparisons that would fail.
#[derive(Clone, Copy)]
struct Slot {
    fingerprint: u32,
    token: u32,
}

/// An empty slot. No vocabulary has a token of this number.
const FREE: Slot = Slot {
    fingerprint: 0,
    token: u32::MAX,
};

impl Vocabulary {
    /// Reads one token from each line. The first line is token 0.
    pub(super) fn new(lines: Cow<'static, str>) -> Result<Self, VocabularyError> {
        let mut end = 0;
        let entries: Vec<_> = lines
            .split_inclusive('\n')
            .map(|line| {
                let start = end;
                end += line.len();
                start..start + line.trim_end_matches(['\r', '\n']).len()
            })
            .collect();
        let tokens = u32::try_from(entries.len())
            .ok()
            .filter(|&tokens| tokens < FREE.token);
        let tokens = tokens.ok_or(VocabularyError::TooLarge {
            entries: entries.len(),
        })?;
        let unknown = (0..tokens)
            .zip(&entries)
            .find(|(_, entry)| lines[(*entry).clone()] == *UNKNOWN);
        let (unknown, _) = unknown.ok_or(VocabularyError::NoUnknown)?;
        if let Some(index) = entries.iter().position(|entry| entry.len() > LONGEST) {
            return Err(VocabularyError::TooLong {
                line: index + 1,
                length: entries[index].len(),
            });
        }
        let longest = entries.iter().map(Range::len).max().unwrap_or(0);
        let slots = vec![FREE; (entries.len() * 2).next_power_of_two()];
        let mut vocabulary = Self {
            lines,
            entries,
            slots,
            longest,
            unknown,
        };
        (0..tokens).for_each(|token| vocabulary.insert(token));
        Ok(vocabulary)
    }

    /// Number of tokens.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The token for text that no other token covers.
    pub(super) fn unknown(&self) -> u32 {
        self.unknown
    }

    /// The text of a token.
    pub(super) fn token(&self, token: u32) -> Option<&str> {
        Some(&self.lines[self.entries.get(token as usize)?.clone()])
    }

    /// Hash over all entries in order.
    pub(super) fn digest(&self) -> u64 {
        Fnv::of(self.lines.as_bytes()).value()
    }

    /// The longest token at the beginning of `bytes`, and how many bytes it covers.
    pub(super) fn longest_prefix(&self, bytes: &[u8], place: Place) -> Option<(u32, usize)> {
        // Hashes of all prefixes in one pass.
        let mut hashes = [0; LONGEST];
        let mut hash = match place {
            Place::Start => Fnv::EMPTY,
            Place::Continuation => Fnv::of(CONTINUATION.as_bytes()),
        };
        let longest = bytes.len().min(self.longest);
        for (prefix, &byte) in hashes.iter_mut().zip(&bytes[..longest]) {
            hash = hash.push(byte);
            *prefix = hash.value();
        }
        (1..=longest).rev().find_map(|length| {
            let token = self.find(&bytes[..length], place, hashes[length - 1])?;
            Some((token, length))
        })
    }

    fn find(&self, piece: &[u8], place: Place, hash: u64) -> Option<u32> {
        let (fingerprint, first) = self.address(hash);
        let probes = (first..self.slots.len()).chain(0..first);
        let taken = probes
            .map(|slot| self.slots[slot])
            .take_while(|slot| slot.token != FREE.token);
        let mut candidates = taken
            .filter(|slot| slot.fingerprint == fingerprint)
            .map(|slot| slot.token);
        candidates.find(|&token| {
            let entry = self.entry(token);
            match place {
                Place::Start => entry == piece,
                Place::Continuation => entry.strip_prefix(CONTINUATION.as_bytes()) == Some(piece),
            }
        })
    }

    fn insert(&mut self, token: u32) {
        let (fingerprint, first) = self.address(Fnv::of(self.entry(token)).value());
        let mut probes = (first..self.slots.len()).chain(0..first);
        let free = probes
            .find(|&slot| self.slots[slot].token == FREE.token)
            .expect("half of the slots stay free");
        self.slots[free] = Slot { fingerprint, token };
    }

    /// Fingerprint and first slot of a hash.
    fn address(&self, hash: u64) -> (u32, usize) {
        let [a, b, c, d, low @ ..] = hash.to_be_bytes();
        let low = u32::from_be_bytes(low) as usize;
        (
            u32::from_be_bytes([a, b, c, d]),
            low & (self.slots.len() - 1),
        )
    }

    fn entry(&self, token: u32) -> &[u8] {
        self.lines[self.entries[token as usize].clone()].as_bytes()
    }
}

impl fmt::Debug for Vocabulary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Vocabulary")
            .field("tokens", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        Vocabulary::new(Cow::Borrowed("[UNK]\nun\nunder\n##un\n##a\r\na")).unwrap()
    }

    #[test]
    fn the_longest_prefix_wins() {
        let vocabulary = vocabulary();
        assert_eq!(
            vocabulary.longest_prefix(b"underrun", Place::Start),
            Some((2, 5))
        );
        assert_eq!(
            vocabulary.longest_prefix(b"unde", Place::Start),
            Some((1, 2))
        );
        assert_eq!(vocabulary.longest_prefix(b"run", Place::Start), None);
        assert_eq!(vocabulary.longest_prefix(b"", Place::Start), None);
    }

    #[test]
    fn place_matters() {
        let vocabulary = vocabulary();
        assert_eq!(
            vocabulary.longest_prefix(b"under", Place::Continuation),
            Some((3, 2))
        );
        assert_eq!(
            vocabulary.longest_prefix(b"ab", Place::Continuation),
            Some((4, 1))
        );
        assert_eq!(vocabulary.longest_prefix(b"ab", Place::Start), Some((5, 1)));
    }

    #[test]
    fn an_unknown_token_is_required() {
        let error = Vocabulary::new(Cow::Borrowed("a\nb\n")).unwrap_err();
        assert_eq!(error.to_string(), "vocabulary has no `[UNK]`");
        assert_eq!(
            Vocabulary::new(Cow::Borrowed("")).unwrap_err(),
            VocabularyError::NoUnknown
        );
    }

    #[test]
    fn entries_beyond_the_limit_are_refused() {
        let lines = |length| Cow::Owned(format!("[UNK]\n{}\n", "x".repeat(length)));
        let vocabulary = Vocabulary::new(lines(64)).unwrap();
        assert_eq!(
            vocabulary.longest_prefix(&[b'x'; 99], Place::Start),
            Some((1, 64))
        );
        let error = Vocabulary::new(lines(65)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 2 of the vocabulary has 65 bytes, more than 64"
        );
    }

    #[test]
    fn order_is_part_of_the_digest() {
        let other = Vocabulary::new(Cow::Borrowed("[UNK]\nunder\nun\n##un\n##a\r\na")).unwrap();
        assert_ne!(vocabulary().digest(), other.digest());
    }
}
