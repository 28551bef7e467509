//! Settings of a target: the section `target:` of settings, manifests and dataset files, or a file of its own.
//!
//! ```
//! use evals_targets::{TargetAddress, TargetSettings};
//! use serde_json::json;
//!
//! let short = TargetSettings::from_value(json!("http://localhost:8000/ask")).unwrap();
//! assert_eq!(short.address, Some(TargetAddress::Http("http://localhost:8000/ask".to_owned())));
//!
//! let problem = TargetSettings::from_value(json!({"response": {"anwser": "$.text"}})).unwrap_err();
//! assert_eq!(problem.key, "response.anwser");
//! assert_eq!(problem.message, "unknown key; did you mean `answer`?");
//! ```

mod check;
mod postgres_address;
mod reading;
mod response;
mod target_settings;
mod templates;
mod written;

use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use postgres_address::PostgresAddress;
pub use response::{ResponseSettings, StreamSettings, UsageSettings};
pub use target_settings::{Body, ColumnSettings, MatchBy, MatchSettings, TargetSettings};
pub use written::{Expanded, Written};

/// A setting of a target that cannot be used. The caller knows the file and finds the line by the key.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{}: {message}", place(key))]
pub struct SettingsProblem {
    /// The setting's dotted path below `target`: `response.answer`. Empty for the whole section.
    pub key: String,
    /// The mistake, and how to fix it.
    pub message: String,
}

impl SettingsProblem {
    /// A problem of this setting.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            message: message.into(),
        }
    }
}

fn place(key: &str) -> String {
    if key.is_empty() {
        "`target`".to_owned()
    } else {
        format!("`target.{key}`")
    }
}

/// Where the prompt of a chat model or the statement of a database comes from: a text, or `{file: PATH}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or `{file: PATH}`")]
pub enum PromptSource {
    /// The text itself.
    Text(String),
    /// A file that holds it. A relative path starts from the folder where the program runs.
    File(PromptFile),
}

/// A file that holds a prompt or a statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptFile {
    /// Its path.
    pub file: PathBuf,
}

impl PromptSource {
    /// The text. `folder` is the one that relative paths start from.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not UTF-8.
    pub fn text(&self, folder: &Path) -> io::Result<String> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::File(prompt) => {
                let path = folder.join(&prompt.file);
                let named = |error: io::Error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                };
                std::fs::read_to_string(&path).map_err(named)
            }
        }
    }
}
