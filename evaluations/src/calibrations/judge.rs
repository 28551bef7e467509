//! The judge of a calibration and the data that it judged: what has to be the same in another run.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::run_folder::differences;

/// The judge whose verdicts people's labels are compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgeIdentity {
    /// The measure that has the verdicts.
    pub(crate) measure: String,
    /// The models, such as `openai:gpt-5-mini`; `None` if no manifest names them.
    pub(crate) name: Option<String>,
    /// The models and their parameters by role, as the manifest of the run holds them.
    pub(crate) models: Json,
    /// SHA-256 of each prompt.
    pub(crate) prompts: BTreeSet<String>,
    /// SHA-256 of each judge with its models, parameters and criteria. Cases with other criteria count as judged by another judge.
    pub(crate) judges: BTreeSet<String>,
}

/// The data whose answers were judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataIdentity {
    /// The dataset.
    pub(crate) name: String,
    /// SHA-256 of the record of its files.
    pub(crate) digest: String,
}

impl JudgeIdentity {
    /// The facts in which another judge differs, as `path: old -> new`; empty if it is the same.
    pub(crate) fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.measure != other.measure {
            found.push(format!("measure: {} -> {}", self.measure, other.measure));
        }
        found.extend(differences(&self.models, &other.models));
        if self.prompts != other.prompts {
            found.push("prompt of the judge: other content".to_owned());
        }
        if found.is_empty() && self.judges != other.judges {
            found.push("criteria of the judge: other content".to_owned());
        }
        found
    }
}

impl DataIdentity {
    /// The fact in which other data differ; `None` if they are the same.
    pub(crate) fn difference(&self, other: &Self) -> Option<String> {
        if self.name != other.name {
            return Some(format!("dataset: {} -> {}", self.name, other.name));
        }
        (self.digest != other.digest).then(|| "dataset files: other content".to_owned())
    }
}
