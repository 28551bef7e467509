use std::num::NonZeroUsize;
use std::thread;

use crate::digest;
use crate::encoder::{Encoder, Gemm, Scratch};
use crate::error::LocalError;
use crate::families::{self, Builder};
use crate::family::Family;
use crate::folder::Folder;
use crate::settings::{Dtype, LocalSettings};
use crate::tokenizer::{Encoded, Tokens};
use crate::weights::Weights;
use evals_models::{ModelIdentity, TextKind};

/// Tokens read of a text by a model that has no limit of its own, `XLNet`, unless settings state another one: as many as the
/// longest windows of the other encoders have. What a text takes in memory grows with it.
pub(crate) const LONGEST: usize = 8192;

/// What there is to load a head from.
#[derive(Debug)]
pub(crate) struct Parts<'model> {
    /// Gives tensors by their full names.
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
    /// Loads an encoder, and lets `head` load what stands on it from the same weights.
    pub(crate) fn open<H>(
        folder: &Folder,
        dtype: Dtype,
        head: impl FnOnce(&Parts<'_>) -> Result<H, LocalError>,
    ) -> Result<(Self, H), LocalError> {
        let family = Family::read(folder)?;
        let files = Weights::files(folder)?;
        // Checking a file takes about as long as loading it, so both are done at once.
        thread::scope(|scope| {
            let digest = scope.spawn(|| digest::of_files(&files));
            let (encoder, builder) =
                families::encoder(folder, family, Weights::open(folder)?, dtype)?;
            let tokens = Tokens::open(folder, family, encoder.vocabulary())?;
            let builder = builder.root();
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

    /// Tokens read of each text: the first limit of settings, pipeline and tokenizer, within what positions allow, or
    /// [`LONGEST`] where there are none.
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
            return Err(LocalError::Positions {
                requested,
                available,
            });
        }
        let stated = requested.or(stated).or(self.tokens.stated_limit());
        let most = available.unwrap_or(requested.unwrap_or(LONGEST));
        let max_tokens = stated.map_or(most, |stated| stated.min(most));
        let special = self.tokens.special(pair);
        if max_tokens <= special {
            return Err(LocalError::Window {
                max_tokens,
                special,
            });
        }
        Ok(max_tokens)
    }

    /// Tokens left for a text of `kind` behind its prompt, where `window` are read of both and `fixed` are those of every text.
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
            return Err(LocalError::Prompt {
                max_tokens: window,
                kind,
            });
        }
        Ok(room)
    }

    /// The vectors of each text's tokens, text after text.
    pub(crate) fn encode(&self, texts: &[&Encoded], scratch: &mut Scratch) -> Vec<f32> {
        self.encoder.encode(texts, scratch)
    }
}

/// The identity of the folder's model, by the name of the settings if they have one.
pub(crate) fn named(folder: &Folder, settings: &LocalSettings, digest: String) -> ModelIdentity {
    let name = settings.name.as_deref().unwrap_or(folder.name());
    ModelIdentity::new("local", name).with_digest(digest)
}

/// The numbers that linear maps are computed in, as identities name them. In `int8` they depend on the processor: where weights
/// keep fewer bits, the same files give other vectors.
pub(crate) fn numbers(dtype: Dtype) -> String {
    in_bits(dtype, Gemm::default().int8_bits())
}

fn in_bits(dtype: Dtype, bits: u8) -> String {
    let name = dtype.name();
    match dtype {
        Dtype::Int8 if bits < 8 => format!("{name}-{bits}bit"),
        Dtype::F32 | Dtype::Int8 => name.to_owned(),
    }
}

/// Threads that the settings ask for, or one for each core.
pub(crate) fn threads(settings: &LocalSettings) -> usize {
    let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    settings.threads.unwrap_or_else(cores).get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_named_with_what_the_processor_makes_of_them() {
        assert_eq!(in_bits(Dtype::Int8, 8), "int8");
        assert_eq!(in_bits(Dtype::Int8, 7), "int8-7bit");
        assert_eq!(in_bits(Dtype::F32, 7), "f32");
    }
}
