//! What an experiment found about one case.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    CaseId, Direction, Domain, EvaluatorFailure, EvaluatorOrigin, Missed, TaskFailure, Timing,
    Value,
};

/// One repetition of one case: what went in, what came out, how it was judged.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct CaseReport<D: Domain> {
    /// The case's id.
    pub id: CaseId,
    /// Which repetition this is, from 1.
    pub repeat: u32,
    /// What the task was given.
    pub input: D::Input,
    /// What a good output is compared with, where it is known.
    pub expected: Option<D::Expected>,
    /// What else is known about the case.
    pub metadata: D::Metadata,
    /// What the task returned, or why it did not.
    pub result: TaskResult<D::Output>,
    /// Names of the evaluators that this case had for itself, whether they came to say anything or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_evaluators: Vec<String>,
    /// What the evaluators said: the case's own first, then the dataset's. Empty for a failed task.
    pub outcomes: Vec<CaseOutcome>,
    /// The evaluators that could not say anything.
    pub evaluator_failures: Vec<EvaluatorFailure>,
    /// What the evaluators would have said but for a failure, the task's or their own. One that does not know is not listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<Missed>,
    /// How long the task took.
    #[serde(rename = "seconds", with = "crate::seconds")]
    pub duration: Duration,
    /// Stage timings: those that the task recorded, in its order, then those of the evaluators, in theirs.
    pub timings: Vec<Timing>,
    /// Numbers that the task and the evaluators recorded.
    #[serde(serialize_with = "crate::finite::serialize_all")]
    pub metrics: BTreeMap<String, f64>,
    /// Numbers that were recorded but are not finite, with what they are instead, as in `not finite: NaN`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub undefined_metrics: BTreeMap<String, String>,
    /// Anything else that the task and the evaluators recorded.
    pub attributes: BTreeMap<String, serde_json::Value>,
}

/// Either an output or the reason why there is none.
///
/// In JSON: `{"output": …}` or `{"failure": {"kind": …, "message": …}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TaskResult<O> {
    /// The task returned this.
    Output(O),
    /// The task returned an error or panicked.
    Failure(TaskFailure),
}

/// One outcome with the evaluator it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseOutcome {
    /// Names the same measure of the same evaluator in every case of the run: what the second evaluator calls `name` is
    /// `name_2` everywhere, and that of the third `name_3`.
    pub name: String,
    /// What its evaluator called it, where that is another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// Name of the evaluator that returned it.
    pub evaluator: String,
    /// Which of the run's evaluators that is.
    #[serde(default)]
    pub origin: EvaluatorOrigin,
    /// Which end of the measure is better.
    #[serde(default, skip_serializing_if = "Direction::is_higher")]
    pub better: Direction,
    /// The result itself.
    pub value: Value,
    /// Why the value is what it is; always there when it is undefined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl<O> TaskResult<O> {
    /// The output, where there is one.
    pub fn output(&self) -> Option<&O> {
        match self {
            Self::Output(output) => Some(output),
            Self::Failure(_) => None,
        }
    }

    /// The failure, where there is one.
    pub fn failure(&self) -> Option<&TaskFailure> {
        match self {
            Self::Output(_) => None,
            Self::Failure(failure) => Some(failure),
        }
    }
}

impl<D: Domain> CaseReport<D> {
    /// The outcome of that name, where the case has one.
    pub fn outcome(&self, name: &str) -> Option<&CaseOutcome> {
        self.outcomes.iter().find(|outcome| outcome.name == name)
    }

    /// The score of that name, where the case has one.
    pub fn score(&self, name: &str) -> Option<f64> {
        match self.outcome(name)?.value {
            Value::Score(score) => Some(score),
            Value::Assertion(_) | Value::Label(_) | Value::Undefined => None,
        }
    }

    /// The id for people: with `repeats` above 1 it carries the repetition, as in `q7 [2/5]`.
    pub fn label(&self, repeats: u32) -> impl fmt::Display + '_ {
        Label {
            id: &self.id,
            repeat: self.repeat,
            repeats,
        }
    }
}

struct Label<'a> {
    id: &'a CaseId,
    repeat: u32,
    repeats: u32,
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.repeats {
            0 | 1 => write!(formatter, "{}", self.id),
            repeats => write!(formatter, "{} [{}/{repeats}]", self.id, self.repeat),
        }
    }
}
