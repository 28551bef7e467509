//! `manifest.json`: the inputs of a run, to tell runs apart and to repeat them.

use std::collections::BTreeMap;

use evals_data::Provenance;
use evals_index::{Approximation, BuildReport, Identity, IndexStatistics};
use evals_metrics::Measure;
use evals_models::ModelIdentity;
use evals_targets::TargetIdentity;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::case_selection::SelectionRecord;
use crate::settings::Settings;
use crate::shards::ShardRecord;

/// The version of manifests that this program writes and reads.
pub(crate) const MANIFEST_VERSION: u32 = 1;

/// `manifest.json` of a run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RunManifest<'r> {
    pub(crate) schema_version: u32,
    pub(crate) tool: Tool,
    pub(crate) benchmark: &'static str,
    pub(crate) name: &'r str,
    pub(crate) profile: String,
    /// UTC, to the second.
    pub(crate) started: String,
    pub(crate) command_line: Vec<String>,
    pub(crate) dataset: DatasetRecord<'r>,
    pub(crate) settings: &'r Settings,
    /// Where the settings came from, weakest first, after the built-in defaults.
    pub(crate) settings_from: Vec<String>,
    /// `None` for a run of a target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<IndexRecord<'r>>,
    /// The system under test, if it is not our own pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<&'r TargetIdentity>,
    /// The models by role.
    pub(crate) models: BTreeMap<&'static str, &'r ModelIdentity>,
    /// Further parameters of the models by role.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) parameters: BTreeMap<&'static str, Map<String, Value>>,
    /// SHA-256 of each prompt template in use.
    pub(crate) prompts: BTreeMap<String, String>,
    pub(crate) measures: &'r [Measure],
    /// Documents kept for each question; in question answering, passages.
    pub(crate) k: usize,
    /// Chunks that each search gives to a fusion; `None` for a run of a target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) candidates: Option<usize>,
    pub(crate) filter: Option<&'r str>,
    /// The dataset's refusal sentences, which identify answers that refuse.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) refusals: &'r [String],
    pub(crate) seed: u64,
    pub(crate) repeat: u32,
    pub(crate) concurrency: usize,
}

/// This program.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Tool {
    name: &'static str,
    version: &'static str,
}

impl Default for Tool {
    fn default() -> Self {
        Self {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// The dataset and the number of its questions.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct DatasetRecord<'r> {
    pub(crate) name: &'r str,
    pub(crate) provenance: &'r Provenance,
    pub(crate) questions: usize,
    /// Questions that the corpus does not answer, so that no document is relevant to them.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) unanswerable: usize,
    /// The value of `--limit`, if given.
    pub(crate) limit: Option<usize>,
    /// The options that chose the questions, if any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) selection: Option<&'r SelectionRecord>,
    /// The shard, if the run is one. The questions are those of the shard alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shard: Option<&'r ShardRecord>,
}

/// The index that was searched.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct IndexRecord<'r> {
    pub(crate) uri: String,
    pub(crate) table: String,
    pub(crate) identity: &'r Identity,
    /// The approximate search of its vectors, with the values of all parameters; absent if their search is exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approximate: Option<&'r Approximation>,
    /// The id of the build of the index that this search uses. Another build with the same parameters may find other chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vectors_build: Option<&'r str>,
    pub(crate) statistics: &'r IndexStatistics,
    /// Times of the build; absent if the index existed.
    pub(crate) build: Option<&'r BuildReport>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
