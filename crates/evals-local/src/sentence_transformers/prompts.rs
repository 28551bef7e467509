//! The prompts that `config_sentence_transformers.json` states.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::error::LocalError;
use crate::folder::Folder;

pub(super) const FILE: &str = "config_sentence_transformers.json";

/// Texts by name, put before what a model reads.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Prompts {
    #[serde(default)]
    prompts: BTreeMap<String, String>,
    default_prompt_name: Option<String>,
}

impl Prompts {
    /// Reads the prompts of a folder. It may have none.
    pub(crate) fn read(folder: &Folder) -> Result<Self, LocalError> {
        let prompts: Self = folder.json(FILE)?.unwrap_or_default();
        // sentence-transformers always has these two. They are empty unless stated.
        let is_known = |name: &String| {
            matches!(name.as_str(), "query" | "document") || prompts.prompts.contains_key(name)
        };
        match &prompts.default_prompt_name {
            Some(name) if !is_known(name) => {
                Err(folder.unsupported(FILE, "default_prompt_name", name))
            }
            _ => Ok(prompts),
        }
    }

    /// The prompt of this name, unless it is empty.
    pub(crate) fn named(&self, name: &str) -> Option<&String> {
        self.prompts.get(name).filter(|prompt| !prompt.is_empty())
    }

    /// The default prompt.
    pub(crate) fn default(&self) -> Option<&String> {
        self.prompts.get(self.default_prompt_name.as_ref()?)
    }

    pub(super) fn resolve(&self, setting: Option<&String>, names: &[&str]) -> String {
        let named = || names.iter().find_map(|name| self.prompts.get(*name));
        setting
            .or_else(named)
            .or_else(|| self.default())
            .cloned()
            .unwrap_or_default()
    }
}
