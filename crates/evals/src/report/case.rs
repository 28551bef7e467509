//! The report of one case.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    CaseId, Direction, Domain, EvaluatorFailure, EvaluatorIdentity, EvaluatorOrigin, Evidence,
    SpanTree, TaskFailure, Timing, Value, ValueKind,
};

/// One repetition of one case: its input, its output and its outcomes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "")]
pub struct CaseReport<D: Domain> {
    /// The case's id.
    pub id: CaseId,
    /// Which repetition this is, from 1.
    pub repeat: u32,
    /// The task's input.
    pub input: D::Input,
    /// The reference that an output is compared with, where it is known.
    pub expected: Option<D::Expected>,
    /// Further facts about the case.
    pub metadata: D::Metadata,
    /// The [cluster](crate::Report::cluster) of the case. `None` if the case is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The task's output or its failure.
    pub result: TaskResult<D::Output>,
    /// How often the task ran: more than once if it was [retried](crate::Experiment::retry_task), and 0 if the setup of the case
    /// failed. What the case records comes from the last attempt.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub attempts: u32,
    /// The case's own evaluators, including those that returned nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own_evaluators: Vec<EvaluatorIdentity>,
    /// The outcomes of the evaluators: the case's own first, then the dataset's. Empty if the task failed.
    pub outcomes: Vec<CaseOutcome>,
    /// The failures of evaluators.
    pub evaluator_failures: Vec<EvaluatorFailure>,
    /// The evaluators that ran more than once, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retried_evaluators: Vec<RetriedEvaluator>,
    /// The outcomes missing because the task or the evaluator failed. Evaluators that do not declare their outcomes are not
    /// listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<Missed>,
    /// Why the [teardown](crate::Lifecycle::teardown) of the case failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teardown_failure: Option<TaskFailure>,
    /// How long the task took; its last attempt, if it was retried.
    #[serde(rename = "seconds", with = "crate::json::seconds")]
    pub duration: Duration,
    /// Stage timings in the order of recording: those of the task, then those of the evaluators.
    pub timings: Vec<Timing>,
    /// Numbers that the task and the evaluators recorded.
    #[serde(serialize_with = "crate::json::finite::serialize_all")]
    pub metrics: BTreeMap<String, f64>,
    /// Recorded numbers that are not finite, each with a text such as `not finite: NaN`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub undefined_metrics: BTreeMap<String, String>,
    /// Other facts that the task and the evaluators recorded.
    pub attributes: BTreeMap<String, serde_json::Value>,
    /// The steps of the task, such as calls of models and tools; `None` if they were not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spans: Option<SpanTree>,
}

/// An evaluator that ran more than once in a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetriedEvaluator {
    /// Name of the evaluator.
    pub evaluator: String,
    /// The evaluator's origin in the run.
    #[serde(default)]
    pub origin: EvaluatorOrigin,
    /// How often it ran.
    pub attempts: u32,
}

/// An output or a failure.
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
    /// The measure's name, the same in every case of the run. If several evaluators use `name`, the second one's is `name_2`
    /// in all cases, and the third one's `name_3`.
    pub name: String,
    /// The name that its evaluator gave it, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// Name of the evaluator that returned it.
    pub evaluator: String,
    /// The evaluator's origin in the run.
    #[serde(default)]
    pub origin: EvaluatorOrigin,
    /// Which direction of the measure is better.
    #[serde(default, skip_serializing_if = "Direction::is_higher")]
    pub better: Direction,
    /// The result itself.
    pub value: Value,
    /// The reason for the value; always present when it is undefined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The smaller verdicts that the value is computed from, where the evaluator tells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
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
    /// The attribute of a case whose duration says nothing about its task, with the reason as text. See
    /// [`TaskScope::untimed`](crate::TaskScope::untimed).
    pub const UNTIMED: &'static str = crate::task::UNTIMED;

    /// Why the duration says nothing about the task, if the task declared so.
    pub fn untimed(&self) -> Option<&str> {
        self.attributes.get(Self::UNTIMED)?.as_str()
    }

    /// Whether the duration is a sample of how long the task takes: it succeeded, none of its stages came from a cache, and it was not
    /// declared [untimed](Self::untimed).
    pub fn is_timed(&self) -> bool {
        let is_cached = self.timings.iter().any(|timing| timing.cached);
        self.result.output().is_some() && !is_cached && self.untimed().is_none()
    }

    /// The outcome with this name, where the case has one.
    pub fn outcome(&self, name: &str) -> Option<&CaseOutcome> {
        self.outcomes.iter().find(|outcome| outcome.name == name)
    }

    /// The score with this name, where the case has one.
    pub fn score(&self, name: &str) -> Option<f64> {
        match self.outcome(name)?.value {
            Value::Score(score) => Some(score),
            Value::Assertion(_) | Value::Label(_) | Value::Undefined => None,
        }
    }

    /// The id for people. If `repeats` is above 1, the repetition follows, as in `q7 [2/5]`.
    pub fn label(&self, repeats: u32) -> String {
        match repeats {
            0 | 1 => self.id.to_string(),
            repeats => format!("{} [{}/{repeats}]", self.id, self.repeat),
        }
    }
}

fn once() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes fields by reference"
)]
fn is_once(attempts: &u32) -> bool {
    *attempts == 1
}

/// The outcomes of one evaluator that a failure prevented, as the evaluator [declares](crate::Evaluator::concerns) them. An
/// empty list means that it has no outcomes for the case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missed {
    /// Name of the evaluator.
    pub evaluator: String,
    /// The evaluator's origin in the run.
    #[serde(default)]
    pub origin: EvaluatorOrigin,
    /// The outcomes, in the evaluator's order.
    pub outcomes: Vec<MissedOutcome>,
}

/// An outcome that a failure prevented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedOutcome {
    /// Names the measure as [`CaseOutcome::name`](crate::CaseOutcome::name) does.
    pub name: String,
    /// The name that its evaluator gives it, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// The kind that its value would have had.
    pub kind: ValueKind,
    /// Which direction of the measure is better.
    #[serde(default, skip_serializing_if = "Direction::is_higher")]
    pub better: Direction,
}
