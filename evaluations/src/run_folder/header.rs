//! The part of a manifest that commands choose and list runs by.

use serde::Deserialize;
use serde_json::Value;

/// The part of a manifest that listings need.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RunHeader {
    pub(crate) benchmark: String,
    pub(crate) name: String,
    pub(crate) profile: String,
    /// Unknown of a report without its manifest.
    pub(crate) started: Option<String>,
    pub(crate) dataset: DatasetHeader,
    pub(crate) seed: u64,
    /// What rankings were measured by, the headline first.
    #[serde(default)]
    pub(crate) measures: Vec<String>,
    #[serde(default)]
    pub(crate) command_line: Value,
    /// Of answers that were judged again, where they come from.
    pub(crate) rejudged: Option<RejudgedHeader>,
}

/// The part of a dataset's record that listings need.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DatasetHeader {
    pub(crate) name: String,
    pub(crate) questions: usize,
}

/// Which run was judged again.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RejudgedHeader {
    pub(crate) run: String,
}
