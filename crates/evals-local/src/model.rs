//! A loaded model: an encoder with its tokenizer, and how many tokens it reads.

use std::num::NonZeroUsize;
use std::thread;

use crate::digest;
use crate::encoder::{Encoder, Kernels, Scratch};
use crate::error::LocalError;
use crate::families::{self, Builder};
use crate::family::Family;
use crate::folder::Folder;
use crate::settings::{Dtype, LocalSettings};
use crate::tokenizer::{Encoded, Tokens};
use crate::weights::Weights;
use evals_models::{ModelIdentity, TextKind};

/// Tokens read of a text by models without a limit of their own (`XLNet`), unless the settings state one. It is the longest window
/// of the other encoders. Memory grows with it.
pub(crate) const LONGEST: usize = 8192;

/// The parts from which a head is loaded.
pub(crate) struct Parts<'model> {
    /// Finds tensors by their full names.
    pub(crate) builder: &'model Builder,
    pub(crate) family: Family,
    pub(crate) encoder: &'model Encoder,
    pub(crate) tokens: &'model Tokens,
}

/// An encoder with the tokenizer that feeds it.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) encoder: Encoder,
    pub(crate) tokens: Tokens,
    /// SHA-256 of the weights.
    pub(crate) digest: String,
}

impl Model {
    /// Loads an encoder, and calls `head` to load the rest of the model from the same weights.
    pub(crate) fn open<H>(
        folder: &Folder,
        dtype: Dtype,
        head: impl FnOnce(&Parts<'_>) -> Result<H, LocalError>,
    ) -> Result<(Self, H), LocalError> {
        let family = Family::read(folder)?;
        let files = Weights::files(folder)?;
        // Hashing a file takes about as long as loading it, so both run at the same time.
        thread::scope(|scope| {
            let digest = scope.spawn(|| digest::of_files(&files));
            let (encoder, builder) =
                families::encoder(folder, family, Weights::open(folder)?, dtype)?;
            let tokens = Tokens::open(folder, family, encoder.vocabulary())?;
            let head = head(&Parts {
                builder: &builder,
                family,
                encoder: &encoder,
                tokens: &tokens,
            })?;
            let digest = digest.join().expect("reading files does not panic")?;
            let model = Self {
                encoder,
                tokens,
                digest,
            };
            Ok((model, head))
        })
    }

    /// The number of tokens read of each text: the first limit that settings, pipeline or tokenizer state, but no more than the model
    /// has positions. A model without positions reads [`LONGEST`] tokens unless a limit is stated.
    pub(crate) fn window(
        &self,
        settings: &LocalSettings,
        stated: Option<usize>,
        pair: bool,
    ) -> Result<usize, LocalError> {
        let available = self.encoder.max_positions;
        let requested = settings.max_tokens.map(NonZeroUsize::get);
        if let (Some(requested), Some(available)) = (requested, available)
            && requested > available
        {
            return Err(LocalError::positions(requested, available));
        }
        let stated = requested.or(stated).or(self.tokens.stated_limit());
        let most = available.unwrap_or(requested.unwrap_or(LONGEST));
        let max_tokens = stated.map_or(most, |stated| stated.min(most));
        check_special(max_tokens, self.tokens.special(pair))?;
        Ok(max_tokens)
    }

    /// The number of tokens left for a text of `kind` after its prompt and `fixed` special tokens, in a window of `window` tokens.
    pub(crate) fn room(
        &self,
        folder: &Folder,
        (kind, prompt): (TextKind, &str),
        window: usize,
        fixed: usize,
    ) -> Result<usize, LocalError> {
        let prompt = self.tokens.count(prompt);
        let prompt = prompt.map_err(|source| folder.tokenizer_error(source))?;
        let room = window.saturating_sub(fixed).saturating_sub(prompt);
        if room == 0 {
            let texts = match kind {
                TextKind::Query => "queries",
                TextKind::Document => "documents",
            };
            return Err(LocalError::no_room(
                window,
                &format!(" after the prompt of {texts}"),
            ));
        }
        Ok(room)
    }

    /// Calls `result` with each text and the vectors of its tokens.
    pub(crate) fn encode<T>(
        &self,
        texts: &[&Encoded],
        scratch: &mut Scratch,
        mut result: impl FnMut(&Encoded, &[f32], &mut Scratch) -> T,
    ) -> Vec<T> {
        let hidden = self.encoder.encode(texts, scratch);
        let mut rest = hidden.as_slice();
        let results = texts.iter().map(|text| {
            let (tokens, after) = rest.split_at(text.ids.len() * self.encoder.width());
            rest = after;
            result(text, tokens, scratch)
        });
        results.collect()
    }
}

/// Checks that special tokens, and what else goes around every text, leave room for it.
pub(crate) fn check_special(max_tokens: usize, special: usize) -> Result<(), LocalError> {
    if max_tokens > special {
        return Ok(());
    }
    let reason = format!(": {special} of them are special tokens");
    Err(LocalError::no_room(max_tokens, &reason))
}

/// The identity of the model in a folder, under the name that the settings state, if any.
pub(crate) fn named(folder: &Folder, settings: &LocalSettings, digest: String) -> ModelIdentity {
    let name = settings.name.as_deref().unwrap_or(folder.name());
    ModelIdentity::new("local", name).with_digest(digest)
}

/// The numbers that linear maps are computed in, as identities name them. `int8` depends on the processor: one that keeps fewer bits
/// of weights computes other vectors from the same files.
pub(crate) fn numbers(dtype: Dtype) -> String {
    in_bits(dtype, Kernels::default().int8_bits())
}

fn in_bits(dtype: Dtype, bits: u8) -> String {
    let name = dtype.name();
    match dtype {
        Dtype::Int8 if bits < 8 => format!("{name}-{bits}bit"),
        Dtype::F32 | Dtype::Int8 => name.to_owned(),
    }
}

/// The number of threads in the settings, or of cores.
pub(crate) fn threads(settings: &LocalSettings) -> usize {
    let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    settings.threads.unwrap_or_else(cores).get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_named_with_the_bits_that_the_processor_keeps() {
        assert_eq!(in_bits(Dtype::Int8, 8), "int8");
        assert_eq!(in_bits(Dtype::Int8, 7), "int8-7bit");
        assert_eq!(in_bits(Dtype::F32, 7), "f32");
    }
}
