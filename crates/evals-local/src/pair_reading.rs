use super::error::LocalError;
use super::folder::Folder;
use super::modules::modules;
use super::pipeline::Prompts;
use super::transformer_config::{Output, TransformerConfig};

/// How a cross-encoder with `modules.json` reads pairs, by its files of sentence-transformers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PairReading {
    pub(super) max_tokens: Option<usize>,
    pub(super) lowercase: bool,
    /// Put before every query.
    pub(super) prompt: String,
}

impl PairReading {
    /// Without `modules.json` nothing but the tokenizer counts. Every step but the transformer is refused.
    pub(super) fn read(folder: &Folder) -> Result<Self, LocalError> {
        let modules = modules(folder)?;
        if modules.is_empty() {
            return Ok(Self::default());
        }
        if let Some(other) = modules.iter().find(|module| !module.is_encoder()) {
            return Err(folder.unsupported("modules.json", "type", &other.kind));
        }
        let config = TransformerConfig::read(folder, Output::Logits)?;
        Ok(Self {
            max_tokens: config.max_seq_length,
            lowercase: config.do_lower_case,
            prompt: Prompts::read(folder)?
                .default()
                .cloned()
                .unwrap_or_default(),
        })
    }

    /// What scores depend on besides the number of tokens.
    pub(super) fn fingerprint(&self) -> Vec<u8> {
        format!("{}{}", self.lowercase, self.prompt).into_bytes()
    }
}
