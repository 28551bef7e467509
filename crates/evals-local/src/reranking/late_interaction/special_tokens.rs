//! The special tokens that `tokenizer_config.json` names, and punctuation.

use serde::Deserialize;
use serde_json::Value;

use crate::error::LocalError;
use crate::folder::Folder;

pub(super) const FILE: &str = "tokenizer_config.json";

/// Special tokens, and the end at which padding goes.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SpecialTokens {
    #[serde(rename = "mask_token")]
    mask: Option<Value>,
    #[serde(rename = "eos_token")]
    end: Option<Value>,
    #[serde(rename = "pad_token")]
    padding: Option<Value>,
    #[serde(rename = "unk_token")]
    unknown: Option<Value>,
    padding_side: Option<String>,
}

impl SpecialTokens {
    pub(super) fn read(folder: &Folder) -> Result<Self, LocalError> {
        Ok(folder.json(FILE)?.unwrap_or_default())
    }

    /// The token of query expansion.
    pub(super) fn filler(&self) -> String {
        let names = [&self.mask, &self.end];
        let named = names.into_iter().find_map(|token| name(token.as_ref()));
        named.unwrap_or("[MASK]").to_owned()
    }

    pub(super) fn padding(&self) -> String {
        name(self.padding.as_ref()).unwrap_or("[PAD]").to_owned()
    }

    /// The end at which padding goes, if it is stated.
    pub(super) fn padding_side(&self) -> Option<&str> {
        self.padding_side.as_deref()
    }

    pub(super) fn unknown(&self) -> String {
        name(self.unknown.as_ref()).unwrap_or("[UNK]").to_owned()
    }
}

/// A special token is written as text, or as an object that also states how it is matched.
fn name(token: Option<&Value>) -> Option<&str> {
    match token? {
        Value::String(name) => Some(name),
        other => other.get("content")?.as_str(),
    }
}

/// The ASCII punctuation characters, which Python calls `string.punctuation`.
pub(super) fn punctuation() -> Vec<String> {
    let signs = ('!'..='~').filter(char::is_ascii_punctuation);
    signs.map(String::from).collect()
}
