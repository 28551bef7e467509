//! The report model of pydantic-evals 2.62.

use evals::{Analysis, EvaluatorSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::entries::Entries;

/// A report of pydantic-evals.
///
/// Written as its `EvaluationReportAdapter` writes it, with all fields. Members with a default may be missing when it is read,
/// and unknown members are ignored, so that reports of other versions can be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationReport {
    /// Name of the experiment.
    pub name: String,
    /// Cases with an output.
    pub cases: Vec<ReportCase>,
    /// Cases whose task failed.
    #[serde(default)]
    pub failures: Vec<ReportCaseFailure>,
    /// Results of the whole experiment.
    #[serde(default)]
    pub analyses: Vec<Analysis>,
    /// Failures of report evaluators.
    #[serde(default)]
    pub report_evaluator_failures: Vec<EvaluatorFailure>,
    /// Facts that the caller keeps with the report.
    #[serde(default)]
    pub experiment_metadata: Option<Map<String, Value>>,
    /// Identifies the run in a trace.
    #[serde(default)]
    pub trace_id: Option<String>,
    /// Identifies the run in a trace.
    #[serde(default)]
    pub span_id: Option<String>,
    /// Name of the dataset.
    #[serde(default)]
    pub dataset_name: Option<String>,
}

/// One run of a case that has an output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportCase {
    /// Name of the case; `x [2/5]` for the second of five repetitions of `x`.
    pub name: String,
    /// The task's input.
    pub inputs: Value,
    /// Further facts about the case.
    pub metadata: Value,
    /// The expected output; `null` if there is none.
    pub expected_output: Value,
    /// The task's output.
    pub output: Value,
    /// Numbers that the task recorded.
    pub metrics: Entries<Number>,
    /// Other facts that the task recorded.
    pub attributes: Map<String, Value>,
    /// Results that are numbers.
    pub scores: Entries<EvaluationResult<Number>>,
    /// Results that are classes.
    pub labels: Entries<EvaluationResult<String>>,
    /// Results that passed or failed.
    pub assertions: Entries<EvaluationResult<bool>>,
    /// Seconds of the task.
    pub task_duration: f64,
    /// Seconds of the task and the evaluators.
    pub total_duration: f64,
    /// Name of the case without the repetition; `None` if cases run once.
    #[serde(default)]
    pub source_case_name: Option<String>,
    /// Identifies the case in a trace.
    #[serde(default)]
    pub trace_id: Option<String>,
    /// Identifies the case in a trace.
    #[serde(default)]
    pub span_id: Option<String>,
    /// Failures of evaluators.
    #[serde(default)]
    pub evaluator_failures: Vec<EvaluatorFailure>,
}

/// One run of a case whose task failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportCaseFailure {
    /// Name of the case; `x [2/5]` for the second of five repetitions of `x`.
    pub name: String,
    /// The task's input.
    pub inputs: Value,
    /// Further facts about the case.
    pub metadata: Value,
    /// The expected output; `null` if there is none.
    pub expected_output: Value,
    /// The error.
    pub error_message: String,
    /// Where the error happened; empty if that is not known.
    pub error_stacktrace: String,
    /// Name of the case without the repetition; `None` if cases run once.
    #[serde(default)]
    pub source_case_name: Option<String>,
    /// Identifies the case in a trace.
    #[serde(default)]
    pub trace_id: Option<String>,
    /// Identifies the case in a trace.
    #[serde(default)]
    pub span_id: Option<String>,
}

/// One result of an evaluator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluationResult<V> {
    /// The name that the evaluator gave it. The key differs if another result of the case has the name.
    pub name: String,
    /// The result.
    pub value: V,
    /// The reason for it.
    pub reason: Option<String>,
    /// The evaluator as a dataset file would write it.
    pub source: EvaluatorSpec,
    /// The version of the evaluator.
    #[serde(default)]
    pub evaluator_version: Option<String>,
}

/// A failure of an evaluator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvaluatorFailure {
    /// Name of the evaluator.
    pub name: String,
    /// The error.
    pub error_message: String,
    /// Where the error happened; empty if that is not known.
    pub error_stacktrace: String,
    /// The evaluator as a dataset file would write it.
    pub source: EvaluatorSpec,
    /// The version of the evaluator.
    #[serde(default)]
    pub evaluator_version: Option<String>,
    /// The class of the error.
    #[serde(default)]
    pub error_type: Option<String>,
}
