//! Where the prompt of a chat model comes from.

use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the prompt of a chat model comes from: a text, or `{file: PATH}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or `{file: PATH}`")]
pub enum PromptSource {
    /// The template itself.
    Text(String),
    /// A file that holds the template. A relative path starts from the folder where the program runs.
    File(PromptFile),
}

/// A file that holds a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptFile {
    /// Its path.
    pub file: PathBuf,
}

impl PromptSource {
    /// The template's text. `folder` is the one that relative paths start from.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no text.
    pub fn text(&self, folder: &Path) -> io::Result<String> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::File(prompt) => std::fs::read_to_string(folder.join(&prompt.file)),
        }
    }
}
