//! The special tokens that `tokenizer_config.json` names, and punctuation.

use std::collections::BTreeMap;

use crate::error::LocalError;
use crate::folder::Folder;
use crate::tokenizer::special_tokens;

pub(super) const FILE: &str = "tokenizer_config.json";

/// Special tokens by their keys.
#[derive(Debug)]
pub(super) struct SpecialTokens(BTreeMap<String, String>);

impl SpecialTokens {
    pub(super) fn read(folder: &Folder) -> Result<Self, LocalError> {
        special_tokens(folder, FILE).map(Self)
    }

    /// The token of query expansion.
    pub(super) fn filler(&self) -> String {
        self.named(&["mask_token", "eos_token"], "[MASK]")
    }

    pub(super) fn padding(&self) -> String {
        self.named(&["pad_token"], "[PAD]")
    }

    pub(super) fn unknown(&self) -> String {
        self.named(&["unk_token"], "[UNK]")
    }

    fn named(&self, keys: &[&str], default: &str) -> String {
        let named = keys.iter().find_map(|key| self.0.get(*key));
        named.map_or(default, String::as_str).to_owned()
    }
}

/// The ASCII punctuation characters, which Python calls `string.punctuation`.
pub(super) fn punctuation() -> Vec<String> {
    let signs = ('!'..='~').filter(char::is_ascii_punctuation);
    signs.map(String::from).collect()
}
