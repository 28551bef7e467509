//! The settings of decomposed judges, rubrics and panels.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use evals_rag::rag_judges::{JudgedMeasure, Rule};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The schema of a list of judges that decide claim by claim.
pub(super) fn names(_generator: &mut SchemaGenerator) -> Schema {
    let names = JudgedMeasure::ALL.map(JudgedMeasure::name);
    json_schema!({"type": "array", "items": {"type": "string", "enum": names}})
}

/// A criterion with levels that are described in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RubricSettings {
    /// What is graded, in words.
    pub criterion: String,
    /// The numbers of the scale with their descriptions; higher is better.
    pub levels: BTreeMap<i64, String>,
    /// The lowest level that passes; `null` if the rubric only grades.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<i64>,
    /// Whether the judge sees the reference answer.
    #[serde(default)]
    pub include_reference: bool,
}

/// Several judges, or one asked several times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PanelSettings {
    /// Judges beside `evaluations.judge`, as `PROVIDER:NAME`. They have its temperature, seed and token limit.
    pub models: Vec<String>,
    /// How often each judge is asked, 25 times at most.
    #[schemars(extend("maximum" = 25))]
    pub repeats: NonZeroU32,
    /// `majority` or `unanimous`.
    pub rule: PanelRule,
}

/// When the votes of a panel speak for a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PanelRule {
    /// If more than half of the votes do.
    #[default]
    Majority,
    /// If all votes do.
    Unanimous,
}

impl Default for PanelSettings {
    fn default() -> Self {
        Self {
            models: Vec::new(),
            repeats: NonZeroU32::MIN,
            rule: PanelRule::default(),
        }
    }
}

impl From<PanelRule> for Rule {
    fn from(rule: PanelRule) -> Self {
        match rule {
            PanelRule::Majority => Self::Majority,
            PanelRule::Unanimous => Self::Unanimous,
        }
    }
}
