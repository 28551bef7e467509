//! The judge of a calibration and the data that it judged: what has to be the same in another run.

use serde::{Deserialize, Serialize};

use crate::judged_by::JudgeRecord;

/// The judge whose verdicts people's labels are compared with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeIdentity {
    /// The measure that has the verdicts.
    pub measure: String,
    /// The models, such as `openai:gpt-5-mini`; `None` if nothing names them.
    pub name: Option<String>,
    /// Who judged the measure; `None` for a run that does not record it.
    pub by: Option<JudgeRecord>,
}

/// The data whose answers were judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataIdentity {
    /// The dataset.
    pub name: String,
    /// SHA-256 of the record of its files.
    pub digest: String,
}

impl JudgeIdentity {
    /// The facts in which the judge of another run differs, as `path: old -> new`; empty if it is the same. Judges of which nothing is
    /// recorded are not known to be the same.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        if self.measure != other.measure {
            return vec![format!("measure: {} -> {}", self.measure, other.measure)];
        }
        match (&self.by, &other.by) {
            (Some(one), Some(other)) => one.differences(other),
            (None, _) => vec![
                "the calibrated run does not record its panel, prompts and criteria".to_owned(),
            ],
            (Some(_), None) => {
                vec!["this run does not record its panel, prompts and criteria".to_owned()]
            }
        }
    }
}

impl DataIdentity {
    /// The fact in which other data differ; `None` if they are the same.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.name != other.name {
            return Some(format!("dataset: {} -> {}", self.name, other.name));
        }
        (self.digest != other.digest).then(|| "dataset files: other content".to_owned())
    }
}
