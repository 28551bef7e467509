//! The tokenizer of BERT's uncased models.

mod character;
mod vocabulary;
mod words;

use std::ops::Range;

pub use self::vocabulary::VocabularyError;

use self::vocabulary::{PiecePlace, Vocabulary};
use self::words::{Word, for_each_word, origins};
use evals_models::Tokenizer;

/// Longer words become `[UNK]` without a search.
const MAX_CHARACTERS: usize = 100;

/// The tokenizer of BERT's uncased models. It lower-cases, removes accents, and splits each word into the longest pieces in the
/// vocabulary, from the left. A word that the vocabulary does not cover completely is one `[UNK]`.
///
/// Its tokens are those of the reference implementation (`BertNormalizer`, `BertPreTokenizer` and `WordPiece` of the `tokenizers`
/// library) at more than ten times the speed. One difference is intended: `[SEP]` and other special tokens in a text are ordinary text, so that a
/// text cannot control the model.
///
/// ```
/// use evals_local::WordPiece;
/// use evals_models::Tokenizer;
///
/// let tokenizer = WordPiece::new("[UNK]\nun\n##aff\n##able\n!")?;
/// assert_eq!(tokenizer.tokens("Unaffable!"), [1, 2, 3, 4]);
/// assert_eq!(tokenizer.boundaries("Unaffable!"), [0..2, 2..5, 5..9, 9..10]);
/// assert_eq!(tokenizer.truncate("Unaffable!", 2), "Unaff");
/// # Ok::<(), evals_local::VocabularyError>(())
/// ```
#[derive(Debug)]
pub struct WordPiece {
    vocabulary: Vocabulary,
    identity: String,
}

/// A token and the bytes of its word that it covers.
type Piece = (u32, Range<usize>);

impl WordPiece {
    /// Reads the lines of a `vocab.txt`, one token each. Tokens that continue a word begin with `##`.
    pub fn new(vocabulary: &'static str) -> Result<Self, VocabularyError> {
        let vocabulary = Vocabulary::new(vocabulary)?;
        let identity = format!("wordpiece-uncased-{:016x}", vocabulary.digest);
        Ok(Self {
            vocabulary,
            identity,
        })
    }

    /// Size of the vocabulary.
    pub fn vocabulary_size(&self) -> usize {
        self.vocabulary.tokens.len()
    }

    /// The token for words that the vocabulary does not cover.
    pub fn unknown(&self) -> u32 {
        self.vocabulary.unknown
    }

    /// The text of a token, `None` past the end of the vocabulary.
    pub fn token(&self, token: u32) -> Option<&str> {
        self.vocabulary.tokens.get(token as usize).copied()
    }

    /// The tokens of `text`, as positions in the vocabulary.
    pub fn tokens(&self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        self.for_each_token(text, |token| tokens.push(token));
        tokens
    }

    /// Calls `visit` with each token, without collecting them.
    pub(crate) fn for_each_token(&self, text: &str, mut visit: impl FnMut(u32)) {
        let mut pieces = Vec::new();
        for_each_word(text, |word| {
            self.split(word.normalized, &mut pieces);
            for (token, _) in &pieces {
                visit(*token);
            }
        });
    }

    /// Replaces `pieces` by those of one word.
    fn split(&self, word: &[u8], pieces: &mut Vec<Piece>) {
        pieces.clear();
        if self.split_fully(word, pieces).is_none() {
            pieces.clear();
            pieces.push((self.vocabulary.unknown, 0..word.len()));
        }
    }

    /// Pushes the pieces of one word, `None` when the vocabulary does not cover it.
    fn split_fully(&self, word: &[u8], pieces: &mut Vec<Piece>) -> Option<()> {
        if word.len() > MAX_CHARACTERS && characters(word) > MAX_CHARACTERS {
            return None;
        }
        let mut start = 0;
        let mut place = PiecePlace::Start;
        while start < word.len() {
            let (token, length) = self.vocabulary.longest_prefix(&word[start..], place)?;
            pieces.push((token, start..start + length));
            start += length;
            place = PiecePlace::Continuation;
        }
        Some(())
    }
}

impl Tokenizer for WordPiece {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn boundaries(&self, text: &str) -> Vec<Range<usize>> {
        let mut boundaries = Vec::new();
        let mut pieces = Vec::new();
        for_each_word(text, |word| {
            self.split(word.normalized, &mut pieces);
            push_boundaries(text, word, &pieces, &mut boundaries);
        });
        boundaries
    }

    fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.for_each_token(text, |_| count += 1);
        count
    }
}

/// Translates pieces of a normalised word into bytes of the text.
fn push_boundaries(
    text: &str,
    word: &Word<'_>,
    pieces: &[Piece],
    boundaries: &mut Vec<Range<usize>>,
) {
    if let [_] = pieces {
        boundaries.push(word.source.clone());
        return;
    }
    let source = &text[word.source.clone()];
    if source.is_ascii() && source.len() == word.normalized.len() {
        let base = word.source.start;
        boundaries.extend(
            pieces
                .iter()
                .map(|(_, piece)| base + piece.start..base + piece.end),
        );
        return;
    }
    let origins = origins(text, word);
    boundaries.extend(
        pieces
            .iter()
            .map(|(_, piece)| origins[piece.start].start..origins[piece.end - 1].end),
    );
}

/// Characters of valid UTF-8: the bytes that do not continue one.
fn characters(utf8: &[u8]) -> usize {
    utf8.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}
