//! The part of a manifest that commands use to choose and list runs.

use serde::Deserialize;
use serde_json::Value;

use super::state::RunState;
use crate::shards::ShardHeader;

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

impl RunHeader {
    /// The state as lists show it. A shard is named beside its state, the column that is always there, so that nobody takes its score for
    /// that of the whole.
    pub(crate) fn shown_state(&self, state: RunState) -> String {
        match self.dataset.shard {
            Some(shard) => format!("{state}, {shard}"),
            None => state.to_string(),
        }
    }
}

/// The part of a dataset's record that listings need.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DatasetHeader {
    pub(crate) name: String,
    pub(crate) questions: usize,
    /// The shard, if the run is one.
    pub(crate) shard: Option<ShardHeader>,
}

/// The run whose answers were judged again.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RejudgedHeader {
    pub(crate) run: String,
}
