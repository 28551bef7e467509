use std::sync::Arc;

use tokenizers::normalizers::{Lowercase, NormalizerWrapper, Sequence};
use tokenizers::{EncodeInput, TruncationDirection, TruncationParams, TruncationStrategy};

use super::config::TokenizerConfig;
use super::encoded::Encoded;
use crate::error::LocalError;
use crate::family::Family;
use crate::folder::Folder;

const FILE: &str = "tokenizer.json";

/// The model's own tokenizer, cut to the model's window.
///
/// The truncation and padding that `tokenizer.json` carries are left aside, but for the end that is cut: they are those of
/// whoever saved it last.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    tokenizer: Arc<tokenizers::Tokenizer>,
    config: TokenizerConfig,
    truncated_end: TruncationDirection,
}

impl Tokens {
    /// Loads the tokenizer without truncation. `rows` is the number of tokens that the model has vectors for.
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
            let message = format!("it has tokens up to {largest}, the model only {rows} of them");
            return Err(unusable(message.into()));
        }
        Ok(Self {
            tokenizer: Arc::new(tokenizer),
            truncated_end: config.truncated_end(folder, carried)?,
            config,
        })
    }

    /// Tokens of a text that the tokenizer was made for, where `tokenizer_config.json` knows.
    pub(crate) fn stated_limit(&self) -> Option<usize> {
        self.config.limit()
    }

    /// Names everything that tokens depend on besides `tokenizer.json`.
    pub(crate) fn fingerprint(&self) -> String {
        self.config.fingerprint()
    }

    /// Special tokens that are added to every text, or to every pair.
    pub(crate) fn special(&self, pair: bool) -> usize {
        use tokenizers::PostProcessor;
        self.tokenizer
            .get_post_processor()
            .map_or(0, |processor| processor.added_tokens(pair))
    }

    /// Reads at most `max_tokens` of a text, special tokens included, and makes letters small first if the model wants that.
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

    /// The tokens of one text with the special ones.
    pub(crate) fn encode(&self, text: &str) -> Result<Encoded, tokenizers::Error> {
        self.run(text.into())
    }

    /// The tokens of a pair with the special ones.
    pub(crate) fn encode_pair(
        &self,
        first: &str,
        second: &str,
    ) -> Result<Encoded, tokenizers::Error> {
        self.run((first, second).into())
    }

    /// The tokens of a text without the special ones.
    pub(crate) fn plain(&self, text: &str) -> Result<Vec<u32>, tokenizers::Error> {
        Ok(self.tokenizer.encode_fast(text, false)?.get_ids().to_vec())
    }

    /// The number of a token, if there is one of exactly this text.
    pub(crate) fn id(&self, token: &str) -> Option<u32> {
        self.tokenizer.token_to_id(token)
    }

    /// The number of a token that the vocabulary has to have.
    pub(crate) fn required_id(&self, folder: &Folder, token: &str) -> Result<u32, LocalError> {
        let unknown = || folder.tokenizer_error(format!("it has no token `{token}`").into());
        self.id(token).ok_or_else(unknown)
    }

    /// Number of tokens of a text without the special ones.
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

/// As sentence-transformers does it: letters are made small by the tokenizer, which knows its own tokens before that, and only
/// if it does not do so anyway.
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
