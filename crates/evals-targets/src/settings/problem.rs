//! A setting of a target that cannot be used.

use thiserror::Error;

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
