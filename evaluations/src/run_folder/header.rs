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
    /// The system under test; `None` for our own pipeline.
    #[serde(default)]
    pub(crate) target: Option<TargetHeader>,
    /// Source of the answers, if this run judged stored answers again.
    pub(crate) rejudged: Option<RejudgedHeader>,
}

impl RunHeader {
    /// The profile without the version of the system under test: what stays the same while the system changes.
    pub(crate) fn system(&self) -> &str {
        let target = self.target.as_ref();
        system(&self.profile, target.and_then(|it| it.version.as_deref()))
    }

    /// Whether the replies come out of a file.
    pub(crate) fn is_of_file(&self) -> bool {
        let mut target = self.target.iter();
        target.any(|it| ["outputs", "trec"].contains(&it.kind.as_str()))
    }

    /// The state as lists show it. A shard is named beside its state, the column that is always there, so that nobody takes its score for
    /// that of the whole.
    pub(crate) fn shown_state(&self, state: RunState) -> String {
        match self.dataset.shard {
            Some(shard) => format!("{state}, {shard}"),
            None => state.to_string(),
        }
    }
}

/// A profile without the version of its target.
pub(crate) fn system<'p>(profile: &'p str, version: Option<&str>) -> &'p str {
    let name = version.and_then(|version| profile.strip_suffix(version)?.strip_suffix(" @"));
    name.unwrap_or(profile)
}

/// The part of a dataset's record that listings need.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DatasetHeader {
    pub(crate) name: String,
    pub(crate) questions: usize,
    /// The shard, if the run is one.
    pub(crate) shard: Option<ShardHeader>,
}

/// The part of a target's record that listings need.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TargetHeader {
    kind: String,
    version: Option<String>,
}

/// The run whose answers were judged again.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct RejudgedHeader {
    pub(crate) run: String,
}
