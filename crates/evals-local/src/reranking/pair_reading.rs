//! How cross-encoders with `modules.json` read pairs.

use crate::error::LocalError;
use crate::folder::{Folder, modules};
use crate::sentence_transformers::{ModuleOutput, Prompts, TransformerConfig};

/// How a cross-encoder reads pairs, as its sentence-transformers files state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PairReading {
    pub(crate) max_tokens: Option<usize>,
    pub(crate) lowercase: bool,
    /// Put before every query.
    pub(crate) prompt: String,
}

impl PairReading {
    /// Reads the files. Without `modules.json` the tokenizer alone decides. Steps other than the transformer are refused.
    pub(crate) fn read(folder: &Folder) -> Result<Self, LocalError> {
        let modules = modules(folder)?;
        if modules.is_empty() {
            return Ok(Self::default());
        }
        if let Some(other) = modules.iter().find(|module| !module.is_encoder()) {
            return Err(folder.unsupported("modules.json", "type", &other.kind));
        }
        let config = TransformerConfig::read(folder, ModuleOutput::Logits)?;
        Ok(Self {
            max_tokens: config.max_seq_length,
            lowercase: config.do_lower_case,
            prompt: Prompts::read(folder)?
                .default()
                .cloned()
                .unwrap_or_default(),
        })
    }

    /// Everything here that scores depend on, except the number of tokens.
    pub(crate) fn fingerprint(&self) -> Vec<u8> {
        format!("{}{}", self.lowercase, self.prompt).into_bytes()
    }
}
