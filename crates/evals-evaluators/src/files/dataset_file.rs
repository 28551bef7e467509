//! A dataset file: its cases and evaluators as values.

use evals::{CaseId, ClusterKey, EvaluatorSpec};
use evals_yaml::{Node, Place};
use serde_json::Value;

/// The contents of a dataset file.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetFile {
    /// The dataset's name; the file's name without extension if the file states none.
    pub name: String,
    /// The file's `$schema`, which has no meaning here. YAML files usually name their schema in a comment, which is not read.
    pub schema: Option<String>,
    /// The cases.
    pub cases: Vec<FileCase>,
    /// The evaluators of every case.
    pub evaluators: Vec<FileEvaluator>,
    /// The evaluators of the report.
    pub report_evaluators: Vec<FileEvaluator>,
    /// What makes cases a cluster, if the file declares it. pydantic-evals refuses a file that does.
    pub cluster: Option<ClusterKey>,
    /// The section `target`, which says what to test. pydantic-evals refuses a file that has it.
    pub target: Option<Node>,
}

/// One case of a dataset file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileCase {
    /// The case's id in the dataset: its name, or `Case` with its position from 1.
    pub id: CaseId,
    /// The name that the file states. Records and tables name every case: those without a name [by their inputs](evals::DerivedIds).
    pub name: Option<String>,
    /// The input to the target.
    pub inputs: Value,
    /// Further facts; null without any.
    pub metadata: Value,
    /// The expected output; a null counts as none.
    pub expected: Option<Value>,
    /// The case's own evaluators.
    pub evaluators: Vec<FileEvaluator>,
    /// Where the case begins.
    pub place: Place,
}

/// One evaluator of a dataset file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileEvaluator {
    /// Name and arguments as they are written.
    pub spec: EvaluatorSpec,
    /// Where its name stands.
    pub place: Place,
}
