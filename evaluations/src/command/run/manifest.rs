//! What a run was made of, so that anyone can tell two runs apart and repeat either.

use std::collections::BTreeMap;

use evals_data::Provenance;
use evals_index::{BuildReport, Identity, IndexStatistics};
use evals_metrics::Measure;
use evals_models::ModelIdentity;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::settings::Settings;

/// `manifest.json` of a run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct RunManifest<'r> {
    pub(super) schema_version: u32,
    pub(super) tool: Tool,
    pub(super) benchmark: &'static str,
    pub(super) name: &'r str,
    pub(super) profile: String,
    /// UTC, to the second.
    pub(super) started: String,
    pub(super) command_line: Vec<String>,
    pub(super) dataset: DatasetRecord<'r>,
    pub(super) settings: &'r Settings,
    /// Where the settings came from, weakest first, after the built-in defaults.
    pub(super) settings_from: Vec<String>,
    pub(super) index: IndexRecord<'r>,
    /// The models that took part, by role.
    pub(super) models: BTreeMap<&'static str, &'r ModelIdentity>,
    /// What else replies of chat models depend on, by role.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) parameters: BTreeMap<&'static str, Map<String, Value>>,
    /// SHA-256 of each prompt template that was used; retrieval uses none.
    pub(super) prompts: BTreeMap<String, String>,
    pub(super) measures: &'r [Measure],
    /// Documents kept for each question; in question answering, passages.
    pub(super) k: usize,
    /// Chunks that each search gives to a fusion.
    pub(super) candidates: usize,
    pub(super) filter: Option<&'r str>,
    /// The dataset's sentences that refuse, which answers are recognised by.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) refusals: &'r [String],
    pub(super) seed: u64,
    pub(super) repeat: u32,
    pub(super) concurrency: usize,
}

/// This program.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Tool {
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

/// What was asked of which data.
#[derive(Debug, Clone, Serialize)]
pub(super) struct DatasetRecord<'r> {
    pub(super) name: &'r str,
    pub(super) provenance: &'r Provenance,
    pub(super) questions: usize,
    /// How many of them the corpus does not answer, so that no document is relevant to them.
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) unanswerable: usize,
    /// The `--limit`, where there was one.
    pub(super) limit: Option<usize>,
}

/// What was searched.
#[derive(Debug, Clone, Serialize)]
pub(super) struct IndexRecord<'r> {
    pub(super) uri: String,
    pub(super) table: String,
    pub(super) identity: &'r Identity,
    pub(super) statistics: &'r IndexStatistics,
    /// How long building took; absent where the index was there.
    pub(super) build: Option<&'r BuildReport>,
}

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

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}
