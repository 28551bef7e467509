//! The size of a chunk, and the places where a document is split.

use std::iter;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use evals_models::Tokenizer;
use text_splitter::{ChunkConfig, ChunkSizer, TextSplitter};

use super::window::in_windows;
use crate::error::IndexError;
use crate::identity::ChunkingIdentity;

/// The splitter, as an identity records it: chunk boundaries depend on its version and on the windows that it is given.
const SPLITTER: &str = "text-splitter 0.33.1, windows of 12 bytes per token";
/// Bytes of a window for each token of a chunk: a window holds about three chunks of English, or four of Chinese.
const WINDOW_BYTES_PER_TOKEN: usize = 12;

/// Splits documents into chunks: one chunk for each document, or chunks of a limited number of tokens.
///
/// Boundaries fall between paragraphs where possible, else between lines, sentences or words, and within words as a last resort.
/// Chunks are trimmed of white space and keep their byte offsets. A document without any text is one empty chunk, so that it still
/// counts as part of the corpus.
///
/// The time to split grows linearly with the length. A single word of more than 64 KiB is split there, however few tokens it has.
#[derive(Debug, Clone)]
pub struct Chunker(ChunkingMethod);

#[derive(Debug, Clone)]
enum ChunkingMethod {
    WholeDocuments,
    Tokens {
        size: NonZeroUsize,
        overlap: usize,
        tokenizer: Arc<dyn Tokenizer>,
    },
}

impl Chunker {
    /// One chunk for each document, as published BEIR figures use. The embedder truncates documents beyond its length.
    pub fn whole_documents() -> Self {
        Self(ChunkingMethod::WholeDocuments)
    }

    /// Chunks of at most `size` tokens that share up to `overlap` tokens with their predecessor. The overlap has to be smaller
    /// than the size.
    pub fn tokens(
        size: NonZeroUsize,
        overlap: usize,
        tokenizer: Arc<dyn Tokenizer>,
    ) -> Result<Self, IndexError> {
        if overlap >= size.get() {
            let problem = format!(
                "a chunk overlap of {overlap} tokens is not smaller than the chunk size of {size}"
            );
            return Err(IndexError::Setting { problem });
        }
        Ok(Self(ChunkingMethod::Tokens {
            size,
            overlap,
            tokenizer,
        }))
    }

    pub(crate) fn identity(&self) -> ChunkingIdentity {
        match &self.0 {
            ChunkingMethod::WholeDocuments => ChunkingIdentity::WholeDocuments,
            ChunkingMethod::Tokens {
                size,
                overlap,
                tokenizer,
            } => ChunkingIdentity::Tokens {
                size: size.get(),
                overlap: *overlap,
                tokenizer: tokenizer.identity().to_owned(),
                splitter: SPLITTER.to_owned(),
            },
        }
    }

    /// The byte ranges of the chunks in `text`, in order; at least one.
    pub fn chunk(&self, text: &str) -> Vec<Range<usize>> {
        let ChunkingMethod::Tokens {
            size,
            overlap,
            tokenizer,
        } = &self.0
        else {
            return iter::once(0..text.len()).collect();
        };
        let bytes = size.get().saturating_mul(WINDOW_BYTES_PER_TOKEN);
        let mut chunks = in_windows(text, bytes, |window| {
            tokens(window, *size, *overlap, tokenizer.as_ref())
        });
        if chunks.is_empty() {
            chunks.push(0..0);
        }
        chunks
    }
}

fn tokens(
    text: &str,
    size: NonZeroUsize,
    overlap: usize,
    tokenizer: &dyn Tokenizer,
) -> Vec<Range<usize>> {
    let sizer = TokenSizer::new(text, tokenizer);
    let config = ChunkConfig::new(size.get())
        .with_sizer(sizer)
        .with_overlap(overlap)
        .expect("the constructor made sure that the overlap is smaller than the size");
    TextSplitter::new(config)
        .chunk_indices(text)
        .filter(|(_, chunk)| !chunk.is_empty())
        .map(|(start, chunk)| start..start + chunk.len())
        .collect()
}

/// Measures slices of one text in tokens, whose boundaries are computed once.
///
/// For each chunk, the splitter asks for the size of dozens of overlapping slices, and a tokenizer would start over for each of them.
/// A slice's size is the number of tokens it touches; a token on a boundary counts on both sides.
struct TokenSizer {
    text_address: usize,
    tokens: Vec<Range<usize>>,
}

impl TokenSizer {
    fn new(text: &str, tokenizer: &dyn Tokenizer) -> Self {
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
    use crate::words::Words;

    fn whole(text: &str) -> Vec<&str> {
        let chunks = Chunker::whole_documents().chunk(text);
        chunks.into_iter().map(|chunk| &text[chunk]).collect()
    }

    fn chunks(text: &str, size: usize, overlap: usize) -> Vec<&str> {
        let chunker =
            Chunker::tokens(NonZeroUsize::new(size).unwrap(), overlap, Arc::new(Words)).unwrap();
        chunker
            .chunk(text)
            .into_iter()
            .map(|chunk| &text[chunk])
            .collect()
    }

    #[test]
    fn prefers_paragraphs_to_lines_and_sentences() {
        let text = "One two three.\nFour five.\n\nSix seven eight.";
        assert_eq!(
            chunks(text, 5, 0),
            ["One two three.\nFour five.", "Six seven eight."]
        );
        assert_eq!(
            chunks(text, 3, 0),
            ["One two three.", "Four five.", "Six seven eight."]
        );
    }

    #[test]
    fn neighbours_share_the_overlap() {
        assert_eq!(chunks("a b c d e f", 3, 1), ["a b c", "c d e", "e f"]);
    }

    #[test]
    fn every_word_of_a_long_text_is_in_exactly_one_chunk_of_the_size() {
        let words: Vec<_> = (0..60_000)
            .map(|word| format!("w{word}{}", if word % 97 == 0 { "\n" } else { "" }))
            .collect();
        let text = words.join(" ");
        let chunks = chunks(&text, 50, 0);
        assert!(text.len() > 5 * 64 * 1024);
        assert!(
            chunks
                .iter()
                .all(|chunk| (1..=50).contains(&Words.count(chunk)))
        );
        let words = chunks.iter().flat_map(|chunk| chunk.split_whitespace());
        assert!(words.eq(text.split_whitespace()));
    }

    #[test]
    fn windows_do_not_move_the_boundaries_of_long_texts() {
        let sentences: Vec<_> = (0..4_000)
            .map(|sentence| {
                let words = vec!["word"; 3 + sentence * 7 % 11].join(" ");
                words + [". ", ".\n", ". ", ".\n\n", "? "][sentence % 5]
            })
            .collect();
        let text = sentences.concat();
        assert!(text.len() > 100_000);
        for (size, overlap) in [(40, 0), (40, 8), (7, 3)] {
            let size = NonZeroUsize::new(size).unwrap();
            let chunker = Chunker::tokens(size, overlap, Arc::new(Words)).unwrap();
            assert_eq!(chunker.chunk(&text), tokens(&text, size, overlap, &Words));
        }
    }

    #[test]
    fn no_text_is_one_empty_chunk() {
        assert_eq!(chunks("", 5, 0), [""]);
        assert_eq!(chunks(" \n\t ", 5, 0), [""]);
        assert_eq!(whole(""), [""]);
    }

    #[test]
    fn whole_documents_stay_whole() {
        assert_eq!(whole(" a\n\nb "), [" a\n\nb "]);
    }

    #[test]
    fn the_overlap_has_to_be_smaller_than_the_size() {
        let size = NonZeroUsize::new(4).unwrap();
        let error = Chunker::tokens(size, 4, Arc::new(Words)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a chunk overlap of 4 tokens is not smaller than the chunk size of 4"
        );
    }

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
