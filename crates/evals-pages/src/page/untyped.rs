//! Dataset files on pages.

use evals::{CaseReport, Report};
use evals_evaluators::Untyped;
use evals_evaluators::pydantic_report::EvaluationReport;
use evals_html::page::{Field, FieldRole, Ranked};
use serde_json::Value;

use super::case::{field, metadata};
use super::documents::Documents;
use super::paged::HasPage;

impl HasPage for Untyped {
    const CASE: &'static str = "case";

    fn pydantic(report: &Report<Self>) -> Option<EvaluationReport> {
        Some(report.into())
    }

    fn asked(case: &CaseReport<Self>) -> String {
        text(&case.input)
    }

    fn shared(case: &CaseReport<Self>) -> Vec<Field> {
        let mut fields = vec![field("input", text(&case.input), FieldRole::Question)];
        let expected = case.expected.as_ref().filter(|it| !it.is_null());
        fields.extend(expected.map(|it| field("expected", text(it), FieldRole::Reference)));
        fields.extend(metadata(&case.metadata));
        fields
    }

    fn own(case: &CaseReport<Self>) -> Vec<Field> {
        let output = case.result.output().into_iter();
        output
            .map(|output| field("output", text(output), FieldRole::Answer))
            .collect()
    }

    fn ranking(_case: &CaseReport<Self>, _documents: &Documents) -> Option<Vec<Ranked>> {
        None
    }

    fn missed(_case: &CaseReport<Self>) -> Vec<String> {
        Vec::new()
    }

    fn lacking(_case: &CaseReport<Self>) -> Vec<&str> {
        Vec::new()
    }
}

/// A text itself, and any other value as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => format!("{value:#}"),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
