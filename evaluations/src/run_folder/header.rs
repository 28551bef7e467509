//! The part of a manifest that commands use to choose and list runs.

use serde::Deserialize;
use serde_json::Value;

/// The part of a manifest that listings need.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RunHeader {
    pub(crate) benchmark: String,
    pub(crate) name: String,
    pub(crate) profile: String,
    /// `None` for a report without its manifest.
    pub(crate) started: Option<String>,
    pub(crate) dataset: DatasetHeader,
    pub(crate) seed: u64,
    /// Retrieval measures, the headline first.
    #[serde(default)]
    pub(crate) measures: Vec<String>,
    #[serde(default)]
    pub(crate) command_line: Value,
    /// Source of the answers, if this run judged stored answers again.
    pub(crate) rejudged: Option<RejudgedHeader>,
}

/// The part of a dataset's record that listings need.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DatasetHeader {
    pub(crate) name: String,
    pub(crate) questions: usize,
}

/// The run whose answers were judged again.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RejudgedHeader {
    pub(crate) run: String,
}
