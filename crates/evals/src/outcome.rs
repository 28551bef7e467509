//! Outcomes: the results of evaluators, and which evaluator of a run they come from.

use serde::{Deserialize, Serialize};

use crate::Evidence;

/// One named result of an evaluator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Names the measure; an evaluator's results of the same name are aggregated over the cases.
    pub name: String,
    /// The result itself.
    pub value: Value,
    /// The reason for the value; always present when it is undefined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The smaller verdicts that the value is computed from, where the evaluator tells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
}

/// The kinds of results; each is aggregated in its own way.
///
/// In JSON: `{"assertion": true}`, `{"score": 0.5}`, `{"label": "polite"}` or `"undefined"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Value {
    /// Passed or failed; aggregated to a pass rate.
    Assertion(bool),
    /// A finite number; aggregated to a mean. A score that is not finite becomes an evaluator failure.
    Score(#[serde(serialize_with = "crate::json::finite::serialize")] f64),
    /// One of several classes; aggregated to the share of each.
    Label(String),
    /// The case has no value, such as recall without relevant documents. The outcome holds the reason.
    Undefined,
}

/// The kind of a defined value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueKind {
    /// A [`Value::Score`].
    Score,
    /// A [`Value::Assertion`].
    Assertion,
    /// A [`Value::Label`].
    Label,
}

impl Value {
    /// The kind of the value, or `None` for an undefined one.
    pub fn kind(&self) -> Option<ValueKind> {
        match self {
            Self::Score(_) => Some(ValueKind::Score),
            Self::Assertion(_) => Some(ValueKind::Assertion),
            Self::Label(_) => Some(ValueKind::Label),
            Self::Undefined => None,
        }
    }
}

impl Outcome {
    /// Makes a passed or failed check.
    pub fn assertion(name: impl Into<String>, passed: bool) -> Self {
        Self::of(name, Value::Assertion(passed))
    }

    /// Makes a number.
    pub fn score(name: impl Into<String>, score: f64) -> Self {
        Self::of(name, Value::Score(score))
    }

    /// Makes a class.
    pub fn label(name: impl Into<String>, label: impl Into<String>) -> Self {
        Self::of(name, Value::Label(label.into()))
    }

    /// Makes an undefined value with its reason.
    pub fn undefined(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::of(name, Value::Undefined).because(reason)
    }

    /// Adds the reason for the value.
    #[must_use]
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Adds the smaller verdicts that the value is computed from.
    #[must_use]
    pub fn on_evidence(mut self, evidence: Vec<Evidence>) -> Self {
        self.evidence = evidence;
        self
    }

    fn of(name: impl Into<String>, value: Value) -> Self {
        Self {
            name: name.into(),
            value,
            reason: None,
            evidence: Vec::new(),
        }
    }
}

/// The position of an evaluator in a run. Together with its name it identifies the evaluator.
///
/// An evaluator of the dataset has the same origin in every case. Own evaluators of different cases count as one evaluator
/// if they have the same name; within one case, those with equal names are numbered.
///
/// In JSON: `{"dataset": 2}` or `{"case": 1}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EvaluatorOrigin {
    /// One of a case's own evaluators: its position among those of its name, from 1.
    Case(u32),
    /// One of the dataset's evaluators: its position, from 1. It is 0 in reports that do not record it.
    Dataset(u32),
}

impl Default for EvaluatorOrigin {
    fn default() -> Self {
        Self::Dataset(0)
    }
}
