//! What was run: our own pipeline, or a system under test.

use evals_targets::TargetIdentity;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

/// What was run.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "SystemMembers")]
pub enum System {
    /// Our own pipeline, over an index.
    Pipeline(Box<IndexRecord>),
    /// A system under test, or a file with its replies.
    Target(TargetIdentity),
    /// A report without its record does not say it.
    #[default]
    Unknown,
}

/// The index that was searched. What only the index itself reads is kept as the index wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexRecord {
    /// The address of the database.
    pub uri: String,
    /// The table in it.
    pub table: String,
    /// The settings that the content of the index depends on.
    pub identity: Value,
    /// The approximate search of its vectors, with the values of all parameters; absent if their search is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approximate: Option<Value>,
    /// The id of the build of the index that this search uses. Another build with the same parameters may find other chunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vectors_build: Option<String>,
    /// Sizes and counts of the index.
    #[serde(default)]
    pub statistics: Value,
    /// Times of the build; null if the index existed.
    #[serde(default)]
    pub build: Value,
}

/// The members of a record that say what was run.
#[derive(Deserialize)]
struct SystemMembers {
    #[serde(default)]
    index: Option<Box<IndexRecord>>,
    #[serde(default)]
    target: Option<TargetIdentity>,
}

impl From<SystemMembers> for System {
    fn from(SystemMembers { index, target }: SystemMembers) -> Self {
        match (target, index) {
            (Some(target), _) => Self::Target(target),
            (None, Some(index)) => Self::Pipeline(index),
            (None, None) => Self::Unknown,
        }
    }
}

impl Serialize for System {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        match self {
            Self::Pipeline(index) => members.serialize_entry("index", index)?,
            Self::Target(target) => members.serialize_entry("target", target)?,
            Self::Unknown => {}
        }
        members.end()
    }
}
