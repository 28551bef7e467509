//! The formats of dataset files.

use std::path::Path;

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
