//! The tokenizer that comes with a model, as `tokenizer.json` and `tokenizer_config.json` describe it.

mod config;

use std::sync::Arc;

use tokenizers::normalizers::{Lowercase, NormalizerWrapper, Sequence};
use tokenizers::{EncodeInput, TruncationDirection, TruncationParams, TruncationStrategy};

use self::config::TokenizerConfig;
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;

pub(crate) use config::special_tokens;

const FILE: &str = "tokenizer.json";

/// The model's own tokenizer.
///
/// The truncation and padding in `tokenizer.json` are those of whoever saved it last. They are ignored, except for the end that
/// truncation cuts off.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    tokenizer: Arc<tokenizers::Tokenizer>,
    config: TokenizerConfig,
    truncated_end: TruncationDirection,
}

impl Tokens {
    /// Loads the tokenizer without truncation. `rows` is the number of tokens for which the model has vectors.
    pub(crate) fn open(folder: &Folder, family: Family, rows: usize) -> Result<Self, LocalError> {
        let bytes = folder.bytes(FILE)?.ok_or_else(|| folder.missing(FILE))?;
        let unusable = |source| folder.tokenizer_error(source);
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(bytes).map_err(unusable)?;
        let config = TokenizerConfig::read(folder)?;
        config.apply(family, &mut tokenizer).map_err(unusable)?;
        let carried = tokenizer.get_truncation().map(|carried| carried.direction);
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(unusable)?;
        let added = [EncodeInput::from(""), ("", "").into()].map(|nothing| {
            let encoding = tokenizer.encode_fast(nothing, true)?;
            Ok(encoding.get_ids().iter().max().copied())
        });
        let added = added.into_iter().collect::<Result<Vec<_>, _>>();
        let added = added.map_err(unusable)?.into_iter().flatten();
        let vocabulary = tokenizer.get_vocab(true).into_values();
        let largest = vocabulary.chain(added).max().unwrap_or(0);
        if largest as usize >= rows {
            let message = format!(
                "it has tokens up to number {largest}, but the model has only {rows} tokens"
            );
            return Err(unusable(message.into()));
        }
        Ok(Self {
            tokenizer: Arc::new(tokenizer),
            truncated_end: config.truncated_end(folder, carried)?,
            config,
        })
    }

    /// The most tokens of a text, if `tokenizer_config.json` states them.
    pub(crate) fn stated_limit(&self) -> Option<usize> {
        self.config.limit()
    }

    /// Everything that tokens depend on besides `tokenizer.json`.
    pub(crate) fn fingerprint(&self) -> String {
        self.config.fingerprint()
    }

    /// How many special tokens are added to every text, or to every pair.
    pub(crate) fn special(&self, pair: bool) -> usize {
        use tokenizers::PostProcessor;
        self.tokenizer
            .get_post_processor()
            .map_or(0, |processor| processor.added_tokens(pair))
    }

    /// Truncates texts to `max_tokens`, special tokens included, and optionally lower-cases them first.
    pub(crate) fn limited(
        self,
        folder: &Folder,
        max_tokens: usize,
        lowercase: bool,
    ) -> Result<Self, LocalError> {
        let mut tokenizer = Arc::unwrap_or_clone(self.tokenizer);
        tokenizer
            .with_truncation(Some(TruncationParams {
                max_length: max_tokens,
                strategy: TruncationStrategy::LongestFirst,
                direction: self.truncated_end,
                ..TruncationParams::default()
            }))
            .map_err(|source| folder.tokenizer_error(source))?;
        if lowercase {
            lowercase_first(&mut tokenizer).map_err(|source| folder.tokenizer_error(source))?;
        }
        Ok(Self {
            tokenizer: Arc::new(tokenizer),
            ..self
        })
    }

    /// The tokens of one text, special tokens included.
    pub(crate) fn encode(&self, text: &str) -> Result<Encoded, tokenizers::Error> {
        self.run(text.into())
    }

    /// The tokens of a pair, special tokens included.
    pub(crate) fn encode_pair(
        &self,
        first: &str,
        second: &str,
    ) -> Result<Encoded, tokenizers::Error> {
        self.run((first, second).into())
    }

    /// The tokens of a text without special tokens.
    pub(crate) fn plain(&self, text: &str) -> Result<Vec<u32>, tokenizers::Error> {
        Ok(self.tokenizer.encode_fast(text, false)?.get_ids().to_vec())
    }

    /// The number of the token of exactly this text, if there is one.
    pub(crate) fn id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// The number of a token that must be in the vocabulary.
    pub(crate) fn required_id(&self, folder: &Folder, token: &str) -> Result<u32, LocalError> {
        let unknown = || folder.tokenizer_error(format!("it has no token `{token}`").into());
        self.id(token).ok_or_else(unknown)
    }

    /// The number of tokens of a text without special tokens.
    pub(crate) fn count(&self, text: &str) -> Result<usize, tokenizers::Error> {
        Ok(self.tokenizer.encode_fast(text, false)?.len())
    }

    fn run(&self, input: EncodeInput<'_>) -> Result<Encoded, tokenizers::Error> {
        let encoding = self.tokenizer.encode_fast(input, true)?;
        let mut encoded = Encoded::of_one_text(encoding.get_ids().to_vec());
        encoded.is_cut = !encoding.get_overflowing().is_empty();
        if self.config.has_segments() {
            encoded.segments = encoding.get_type_ids().to_vec();
        }
        Ok(encoded)
    }
}

/// The tokens of one text or of one pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Encoded {
    pub(crate) ids: Vec<u32>,
    /// The segment of each token, usually 0 for the first text and 1 for the second. All 0 for models without this input.
    pub(crate) segments: Vec<u32>,
    /// How many tokens, from the first on, are attended to: all, unless the text was padded.
    pub(crate) attended: usize,
    /// Whether the text was truncated.
    pub(crate) is_cut: bool,
}

impl Encoded {
    /// The tokens of one text, all of them attended to.
    pub(crate) fn of_one_text(ids: Vec<u32>) -> Self {
        Self {
            segments: vec![0; ids.len()],
            attended: ids.len(),
            is_cut: false,
            ids,
        }
    }
}

/// Lower-cases as sentence-transformers does: inside the tokenizer, after it has found its special tokens, and only if it does not
/// lower-case anyway.
fn lowercase_first(tokenizer: &mut tokenizers::Tokenizer) -> tokenizers::Result<()> {
    let present = tokenizer.get_normalizer().cloned();
    let is_lowercase = |step: &NormalizerWrapper| matches!(step, NormalizerWrapper::Lowercase(_));
    let is_done = match &present {
        Some(NormalizerWrapper::Sequence(steps)) => steps.as_ref().iter().any(is_lowercase),
        Some(step) => is_lowercase(step),
        None => false,
    };
    if !is_done {
        let first = [NormalizerWrapper::Lowercase(Lowercase)];
        let steps = first.into_iter().chain(present).collect();
        tokenizer.with_normalizer(Some(Sequence::new(steps)))?;
    }
    Ok(())
}
