//! The texts that the models embed.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::{Result, bail};
use evals_data::Catalog;
use evals_guard::regular_file;
use evals_index::Chunker;
use evals_local::StaticEmbedder;
use evals_models::Tokenizer as _;
use evals_pipeline::downloads;
use evals_terminal::Printer;

/// Largest file of texts, in bytes. All texts are kept in memory.
const LARGEST: u64 = 256_000_000;

/// Tokens of a chunk of the bundled sample: the default of `processing.chunk_size`.
const CHUNK: NonZeroUsize = NonZeroUsize::new(256).expect("256 is not 0");

/// Texts with their number of tokens. The embedded model's tokenizer counts them, so that all models have the same numbers.
#[derive(Debug)]
pub(super) struct Texts {
    pub(super) source: String,
    texts: Vec<Text>,
}

#[derive(Debug)]
struct Text {
    text: String,
    tokens: usize,
}

impl Texts {
    /// The chunks of the bundled sample's stories, in their order.
    pub(super) async fn of_sample(printer: &Printer) -> Result<Self> {
        let manifest = Catalog::new(Vec::<String>::new()).find("sample")?;
        let collection = downloads::fetch(printer, &manifest).await?;
        let tokenizer = StaticEmbedder::static_minilm().tokenizer();
        let chunker = Chunker::tokens(CHUNK, 0, tokenizer)?;
        let mut texts = Vec::new();
        for document in collection.documents()? {
            let text = document?.text;
            texts.extend(
                chunker
                    .chunk(&text)
                    .into_iter()
                    .map(|at| text[at].to_owned()),
            );
        }
        Self::new("chunks of the bundled sample".to_owned(), texts)
    }

    /// The lines of a file that are not blank.
    pub(super) fn of_file(path: &Path) -> Result<Self> {
        let content = regular_file::read_named(path, LARGEST)?;
        let lines = content.lines().map(str::to_owned).collect();
        Self::new(format!("lines of {}", path.display()), lines)
    }

    fn new(source: String, texts: Vec<String>) -> Result<Self> {
        let tokenizer = StaticEmbedder::static_minilm().tokenizer();
        let texts: Vec<Text> = texts
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .map(|text| Text {
                tokens: tokenizer.count(&text),
                text,
            })
            .collect();
        if texts.is_empty() {
            bail!("no text to embed in the {source}");
        }
        Ok(Self { source, texts })
    }

    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The tokens of each text.
    pub(super) fn tokens(&self) -> Vec<usize> {
        self.texts.iter().map(|text| text.tokens).collect()
    }

    /// The texts of one call, and their tokens, at most `most` for each text. Calls wrap around: the first text follows the last.
    pub(super) fn batch(
        &self,
        call: usize,
        size: NonZeroUsize,
        most: Option<usize>,
    ) -> (Vec<&str>, usize) {
        let start = call.wrapping_mul(size.get());
        let chosen = (0..size.get()).map(|offset| &self.texts[(start + offset) % self.len()]);
        let (mut texts, mut tokens) = (Vec::with_capacity(size.get()), 0);
        for text in chosen {
            texts.push(text.text.as_str());
            tokens += text.tokens.min(most.unwrap_or(usize::MAX));
        }
        (texts, tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Result<Texts> {
        Texts::new(
            "lines".to_owned(),
            texts.iter().map(ToString::to_string).collect(),
        )
    }

    #[test]
    fn calls_wrap_around_and_count_the_tokens_that_a_model_reads() {
        let texts = texts(&["one", "one two", " ", "one two three"]).unwrap();
        let size = NonZeroUsize::new(2).unwrap();
        assert_eq!(texts.batch(0, size, None), (vec!["one", "one two"], 3));
        assert_eq!(
            texts.batch(1, size, None),
            (vec!["one two three", "one"], 4)
        );
        assert_eq!(texts.batch(1, size, Some(2)).1, 3);
        let five = NonZeroUsize::new(5).unwrap();
        assert_eq!(texts.batch(0, five, None).0.len(), 5);
    }

    #[test]
    fn blank_lines_are_no_texts() {
        let error = texts(&["", "\t"]).unwrap_err();
        assert_eq!(error.to_string(), "no text to embed in the lines");
    }
}
