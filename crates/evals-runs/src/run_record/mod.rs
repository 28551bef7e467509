//! The record of a run, `manifest.json`: what was run, on what, and with which settings, to tell runs apart and to repeat them.

mod comparison;
mod origin;
mod selection;
mod settings;
mod system;

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use evals_messages::mismatch;
use evals_models::ModelIdentity;
use evals_targets::TargetIdentity;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub use self::comparison::{Configuration, Sameness, differences};
pub use self::origin::{Merge, MergedShard, Origin, Rejudgement, StoredSource};
pub use self::selection::{LimitRecord, SelectionRecord, selection_text};
pub use self::settings::RecordedSettings;
pub use self::system::{IndexRecord, System};
use crate::clock::timestamp;
use crate::shards::ShardRecord;
use evals_settings::redaction;

/// The key of a report's metadata that holds the filter, and the label of its line.
pub const FILTER: &str = "filter";

/// The label of the line of a report that says how many questions of a test set people found defective.
pub const DEFECTS: &str = "defective questions";

/// The version of records that this program writes and reads.
pub const RECORD_VERSION: u32 = 1;

/// The record of a run.
///
/// A record of an earlier version may lack members, which have the values of `default` then. Members that this version does not know are
/// kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// The version of the format, [`RECORD_VERSION`].
    #[serde(default = "version")]
    pub schema_version: u32,
    /// The program that wrote it; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// What kind of cases the run has.
    pub benchmark: Benchmark,
    /// The name that the user gave, or the dataset's.
    pub name: String,
    /// The search profile, or the target.
    pub profile: String,
    /// UTC, to the millisecond; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// The command that started the run, without credentials.
    #[serde(default)]
    pub command_line: Vec<String>,
    /// The dataset and its cases.
    pub dataset: DatasetRecord,
    /// The settings, without credentials.
    #[serde(default)]
    pub settings: RecordedSettings,
    /// Where the settings came from, weakest first, after the built-in defaults.
    #[serde(default)]
    pub settings_from: Vec<String>,
    /// What was run.
    #[serde(flatten, deserialize_with = "keyed")]
    pub system: System,
    /// The models by role.
    #[serde(default)]
    pub models: BTreeMap<String, ModelIdentity>,
    /// Further parameters of the models by role. A judgement of answers without parameters writes null, and its journal begins with it.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "present"
    )]
    pub parameters: Option<Option<BTreeMap<String, Map<String, Value>>>>,
    /// SHA-256 of each prompt template in use.
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
    /// What a benchmark measures; `None` for a dataset file, which names its evaluators.
    #[serde(flatten, deserialize_with = "measured")]
    pub measured: Option<MeasuredRecord>,
    /// The seed of everything that is drawn.
    pub seed: u64,
    /// How often each case runs.
    #[serde(default = "once")]
    pub repeat: u32,
    /// How many cases run at once.
    #[serde(default)]
    pub concurrency: usize,
    /// Where the results come from.
    #[serde(flatten, deserialize_with = "keyed")]
    pub origin: Origin,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub further: Map<String, Value>,
}

/// What a run measures, and of what kind its cases are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Benchmark {
    /// Rankings against judgements.
    #[default]
    Retrieval,
    /// Answers against references.
    Qa,
    /// The cases of a dataset file.
    Eval,
}

/// The program that made a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    name: String,
    /// Its version.
    pub version: String,
}

/// The dataset and the number of its cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DatasetRecord {
    /// The dataset's name.
    pub name: String,
    /// The name of a dataset file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The files that were read, with their digests.
    #[serde(default)]
    pub provenance: Value,
    /// The cases of the run.
    pub questions: usize,
    /// Questions that the corpus does not answer, so that no document is relevant to them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswerable: usize,
    /// The value of `--limit`, if given.
    #[serde(default)]
    pub limit: Option<usize>,
    /// The options that chose the cases, if any did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionRecord>,
    /// The shard, if the run is one. The cases are those of the shard alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardRecord>,
    /// The evaluators of the report, as a dataset file lists them. Only shards have them: `evaluations runs merge` lets them judge the whole
    /// report, without the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub report_evaluators: Vec<Value>,
    /// Whether the judges of a shard vote, so that the report counts how far they agree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judges_vote: bool,
}

/// What a benchmark measures.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MeasuredRecord {
    /// Rank measures, the headline first.
    #[serde(default)]
    pub measures: Vec<String>,
    /// Documents kept for each question; in question answering, passages.
    #[serde(default)]
    pub k: usize,
    /// Chunks that each search gives to a fusion; `None` for a run of a target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidates: Option<usize>,
    /// The condition on documents, if a search finds only some.
    #[serde(default)]
    pub filter: Option<String>,
    /// The dataset's refusal sentences, which identify answers that refuse.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<String>,
}

impl RunRecord {
    /// A record of a run that this command starts, without what is run.
    pub fn begun(started: DateTime<Utc>) -> Self {
        Self {
            schema_version: RECORD_VERSION,
            tool: Some(Tool::this()),
            started: Some(timestamp(started)),
            command_line: redaction::command_line(),
            ..Self::default()
        }
    }

    /// The name that a user or a variant gave; `None` for the default name.
    pub fn given_name(&self) -> Option<&str> {
        (!is_default_name(&self.name, &self.dataset.name)).then_some(&self.name)
    }

    /// The system under test; `None` for our own pipeline.
    pub fn target(&self) -> Option<&TargetIdentity> {
        match &self.system {
            System::Target(target) => Some(target),
            System::Pipeline(_) | System::Unknown => None,
        }
    }

    /// The index that our own pipeline searched.
    pub fn index(&self) -> Option<&IndexRecord> {
        match &self.system {
            System::Pipeline(index) => Some(index),
            System::Target(_) | System::Unknown => None,
        }
    }

    /// The run whose answers were judged again, if this run did that.
    pub fn rejudged(&self) -> Option<&Rejudgement> {
        match &self.origin {
            Origin::Rejudgement(rejudged, _) => Some(rejudged),
            Origin::Run | Origin::Merge(_) => None,
        }
    }

    /// The profile without the version of the system under test: what stays the same while the system changes.
    pub fn system_name(&self) -> &str {
        let version = self.target().and_then(|it| it.version.as_deref());
        without_version(&self.profile, version)
    }

    /// Whether the replies come out of a file.
    pub fn is_of_file(&self) -> bool {
        self.target().is_some_and(TargetIdentity::is_file)
    }

    /// How many runs of cases were planned.
    pub fn planned(&self) -> usize {
        let repeat = usize::try_from(self.repeat).unwrap_or(usize::MAX);
        self.dataset.questions.saturating_mul(repeat)
    }

    /// Which of several shards the run is.
    pub fn shard(&self) -> Option<(u32, u32)> {
        let shard = self.dataset.shard.as_ref()?.shard;
        Some((shard.index, shard.of))
    }
}

/// Whether a run or a report over a dataset has the name that it gets if nobody gives one. Reports have the profile behind it, in brackets.
pub fn is_default_name(name: &str, dataset: &str) -> bool {
    let rest = name.strip_prefix(dataset).unwrap_or_default();
    let kind = rest.split_once(" (").map_or(rest, |(kind, _)| kind);
    ["_retrieval_evaluation", "_qa_evaluation", "_eval"].contains(&kind)
}

/// A profile without the version of its target.
fn without_version<'p>(profile: &'p str, version: Option<&str>) -> &'p str {
    let name = version.and_then(|version| profile.strip_suffix(version)?.strip_suffix(" @"));
    name.unwrap_or(profile)
}

impl Benchmark {
    /// The word in files and on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Self::Retrieval => "retrieval",
            Self::Qa => "qa",
            Self::Eval => "eval",
        }
    }

    /// The name in tables.
    pub fn title(self) -> &'static str {
        match self {
            Self::Retrieval => "retrieval",
            Self::Qa => "question answering",
            Self::Eval => "dataset file",
        }
    }
}

impl fmt::Display for Benchmark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

impl Tool {
    /// This program.
    pub fn this() -> Self {
        Self {
            name: "evaluations".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Members of the record itself. Serde's errors about them do not say which it is.
fn keyed<'de, T: Deserialize<'de>, D: Deserializer<'de>>(members: D) -> Result<T, D::Error> {
    serde_path_to_error::deserialize(members).map_err(|error| {
        let key = error.path().to_string();
        let message = mismatch::in_json(&error.into_inner().to_string());
        D::Error::custom(format!("`{key}`: {message}"))
    })
}

/// What a benchmark measures. It keeps one document at least.
fn measured<'de, D: Deserializer<'de>>(members: D) -> Result<Option<MeasuredRecord>, D::Error> {
    let measured: MeasuredRecord = keyed(members)?;
    Ok((measured.k > 0).then_some(measured))
}

/// A member that is there, even if it is null.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    value: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

fn version() -> u32 {
    RECORD_VERSION
}

fn once() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;
