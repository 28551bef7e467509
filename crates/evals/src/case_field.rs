//! The parts of a case as people read them.

use serde::Serialize;
use serde_json::Value;

use crate::{CaseReport, Domain, TaskResult};

/// A named part of a case: its question, its answer, its passages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseField {
    /// The name of the field, such as `question`; the same in every case of a domain.
    pub name: &'static str,
    /// Its text, which may have several lines.
    pub text: String,
    /// Whether it is too long for a cell of a table, such as the passages of an answer. Tables leave it out.
    pub is_long: bool,
}

impl CaseField {
    /// Makes a part that fits into a cell of a table.
    pub fn new(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            name,
            text: text.into(),
            is_long: false,
        }
    }

    /// Makes a part that only the view of a single case shows.
    pub fn long(name: &'static str, text: impl Into<String>) -> Self {
        Self {
            is_long: true,
            ..Self::new(name, text)
        }
    }
}

/// The parts that every domain has: input, output and expected output. A text stands for itself, and any other value is shown as
/// JSON. A part without a value is left out.
pub fn case_fields<D: Domain>(case: &CaseReport<D>) -> Vec<CaseField> {
    let output = match &case.result {
        TaskResult::Output(output) => shown(output),
        TaskResult::Failure(_) => None,
    };
    let fields = [
        ("input", shown(&case.input)),
        ("output", output),
        ("expected", case.expected.as_ref().and_then(shown)),
    ];
    let fields = fields.into_iter();
    fields
        .filter_map(|(name, text)| Some(CaseField::new(name, text?)))
        .collect()
}

/// The first part of a case, such as its question.
pub(crate) fn first_text<D: Domain>(case: &CaseReport<D>) -> String {
    let fields = D::case_fields(case);
    let field = fields.into_iter().next();
    field.map(|field| field.text).unwrap_or_default()
}

fn shown(value: &impl Serialize) -> Option<String> {
    text_of(&serde_json::to_value(value).ok()?)
}

/// A text as it is, anything else as JSON; nothing for null.
pub(crate) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
