//! The report of an experiment, case by case.

pub(crate) mod analyses;
mod case;
mod checksum;
mod identity;
mod joined;
mod running;
mod schema;
mod titles;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use case::{CaseOutcome, CaseReport, Missed, MissedOutcome, RetriedEvaluator, TaskResult};
pub(crate) use checksum::Digest;
pub use checksum::ReportCheck;
pub use identity::EvaluatorIdentity;
pub use joined::ReportPart;
pub use schema::SchemaVersion;
pub(crate) use titles::settle;

use crate::{Analysis, ClusterKey, Domain, ReportEvaluatorFailure};

/// The result of one experiment.
///
/// Serialises to a stable JSON object and reads back equal. New fields keep the [`schema_version`](Self::schema_version); a
/// change of meaning raises it. Reading another version is an error.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct Report<D: Domain> {
    /// The version of the JSON schema.
    pub schema_version: SchemaVersion,
    /// Name of the experiment.
    pub name: String,
    /// Name of the dataset.
    pub dataset: String,
    /// How often each case should run.
    pub repeat: u32,
    /// Whether a cancellation or a stop ended the run early.
    pub interrupted: bool,
    /// How many planned runs of cases (cases times repetitions) did not happen.
    pub not_run: usize,
    /// Why the run was stopped before all cases were run: the reason of its [`StopSignal`](crate::StopSignal), or a terminal
    /// failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// Wall time of the whole run, including [earlier sessions](crate::Experiment::elapsed_before) that the caller added.
    #[serde(rename = "seconds", with = "crate::json::seconds")]
    pub duration: Duration,
    /// Facts that the caller keeps with the numbers: settings, models, seed.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// Whether a pass rate over all assertions together means anything; see
    /// [`Dataset::assertions_apart`](crate::Dataset::assertions_apart).
    #[serde(default = "pooled", skip_serializing_if = "is_pooled")]
    pub pools_assertions: bool,
    /// What makes cases a cluster: those of a cluster may depend on each other. `None` if every case is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterKey>,
    /// The panic messages of observers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observer_failures: Vec<String>,
    /// The evaluators of the dataset, in their order: [`EvaluatorOrigin::Dataset`](crate::EvaluatorOrigin::Dataset) counts their positions
    /// from 1. Empty in reports that do not record them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evaluators: Vec<EvaluatorIdentity>,
    /// Results of the whole run, in the order of the evaluators that made them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub analyses: Vec<Analysis>,
    /// The failures of report evaluators.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report_evaluator_failures: Vec<ReportEvaluatorFailure>,
    /// The finished cases in dataset order, repetitions of a case one after the other.
    pub cases: Vec<CaseReport<D>>,
}

impl<D: Domain> Report<D> {
    /// The key of [`metadata`](Self::metadata) for the facts that renderers print beside the numbers, an array of `[label,
    /// text]` pairs: `[["model", "m1"], ["seed", "7"]]`.
    pub const FACTS: &str = "facts";

    /// The facts to print under the title, in order. Entries that are not a pair of texts are skipped.
    pub fn facts(&self) -> impl Iterator<Item = (&str, &str)> {
        let facts = self.metadata.get(Self::FACTS);
        let facts = facts.and_then(serde_json::Value::as_array);
        facts.into_iter().flatten().filter_map(|fact| {
            let [label, text] = fact.as_array()?.as_slice() else {
                return None;
            };
            Some((label.as_str()?, text.as_str()?))
        })
    }
}

fn pooled() -> bool {
    true
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
pub(crate) fn is_pooled(pooled: &bool) -> bool {
    *pooled
}
