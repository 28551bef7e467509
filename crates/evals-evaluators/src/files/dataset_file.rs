//! A dataset file: its cases and evaluators as values, and its formats.

use std::path::Path;

use evals::{CaseId, ClusterKey, EvaluatorSpec};
use evals_yaml::{Node, Place};
use serde_json::Value;

/// The contents of a dataset file.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// What makes cases a cluster, if the file declares it, and where it does. pydantic-evals refuses a file that does.
    pub cluster: Option<(ClusterKey, Place)>,
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
    /// Where its name stands.
    pub(super) name_place: Place,
}

/// One evaluator of a dataset file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileEvaluator {
    /// Name and arguments as they are written.
    pub spec: EvaluatorSpec,
    /// Where its name stands.
    pub place: Place,
    pub(super) form: SpecForm,
    /// Names and places of arguments by name.
    pub(super) arguments: Vec<(String, Place)>,
}

/// How an evaluator is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpecForm {
    /// `Name`, or `Name: argument`.
    Short,
    /// `{name: Name, arguments: …}`
    Long,
}

impl FileCase {
    /// A case without anything.
    pub(super) fn new(place: Place) -> Self {
        Self {
            id: CaseId::from(""),
            name: None,
            inputs: Value::Null,
            metadata: Value::Null,
            expected: None,
            evaluators: Vec::new(),
            place,
            name_place: place,
        }
    }
}

/// The format of a dataset file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// YAML in pydantic-evals' format.
    Yaml,
    /// JSON: an object in pydantic-evals' format, or an array of records.
    Json,
    /// JSON Lines: one record on each line.
    JsonLines,
    /// CSV with promptfoo's columns.
    Csv,
}

impl FileFormat {
    /// The format that a file's extension names: `.yaml` or `.yml`, `.json`, `.jsonl` or `.ndjson`, `.csv`, in any case.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}
