//! `ConfusionMatrixEvaluator`: how often each expected class was predicted as which class.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Analysis, CaseReport, EvaluatorError, EvaluatorSpec, Report, ReportEvaluator, Value as Verdict,
};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;

use crate::{Entry, Parameter, Signature, Untyped, python, result_keys};

const NAME: &str = "ConfusionMatrixEvaluator";

const SOURCES: [&str; 4] = ["expected_output", "output", "metadata", "labels"];

/// Counts predicted against expected classes.
#[derive(Debug)]
struct ConfusionMatrix {
    spec: EvaluatorSpec,
    title: String,
    predicted: ClassSource,
    expected: ClassSource,
}

/// The place of a class in a case.
#[derive(Debug)]
struct ClassSource {
    from: ClassFrom,
    key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ClassFrom {
    ExpectedOutput,
    Output,
    Metadata,
    Labels,
}

#[derive(Deserialize)]
struct MatrixArguments {
    predicted_from: ClassFrom,
    predicted_key: Option<String>,
    expected_from: ClassFrom,
    expected_key: Option<String>,
    title: String,
}

/// A class from labels without the label's name.
#[derive(Debug, Error)]
#[error("`{class}_key` must name a label, because `{class}_from` is `labels`")]
struct NoKey {
    class: &'static str,
}

/// The entry of `ConfusionMatrixEvaluator`.
pub(super) fn entry() -> Entry {
    let signature = Signature::new([
        Parameter::choice(
            "predicted_from",
            "output",
            &SOURCES,
            "Where the predicted class of a case is: `expected_output`, `output`, `metadata` or `labels`.",
        ),
        Parameter::optional_text(
            "predicted_key",
            "The key in the metadata, or the name of the label, that holds the predicted class.",
        ),
        Parameter::choice(
            "expected_from",
            "expected_output",
            &SOURCES,
            "Where the expected class of a case is: `expected_output`, `output`, `metadata` or `labels`.",
        ),
        Parameter::optional_text(
            "expected_key",
            "The key in the metadata, or the name of the label, that holds the expected class.",
        ),
        Parameter::optional(
            "title",
            json!("Confusion Matrix"),
            json!({"type": "string"}),
            "The title of the analysis.",
        ),
    ]);
    Entry::report(
        NAME,
        "Counts, for each expected class, how often each class was predicted.",
        signature,
        |arguments, _| {
            let read: MatrixArguments = arguments.read()?;
            Ok(Arc::new(ConfusionMatrix {
                spec: arguments.spec(),
                title: read.title,
                predicted: ClassSource::new(read.predicted_from, read.predicted_key, "predicted")?,
                expected: ClassSource::new(read.expected_from, read.expected_key, "expected")?,
            }))
        },
    )
}

impl ClassSource {
    fn new(from: ClassFrom, key: Option<String>, class: &'static str) -> Result<Self, NoKey> {
        if from == ClassFrom::Labels && key.is_none() {
            return Err(NoKey { class });
        }
        Ok(Self { from, key })
    }

    /// The class of a case with this output. Values other than texts are written as Python's `str` does.
    fn class(&self, case: &CaseReport<Untyped>, output: &Value) -> Option<String> {
        let value = match (self.from, &self.key) {
            (ClassFrom::Labels, key) => {
                return match result_keys::value(case, key.as_deref()?)? {
                    Verdict::Label(label) => Some(label.clone()),
                    Verdict::Assertion(_) | Verdict::Score(_) | Verdict::Undefined => None,
                };
            }
            (ClassFrom::ExpectedOutput, _) => case.expected.as_ref()?,
            (ClassFrom::Output, _) => output,
            (ClassFrom::Metadata, None) => &case.metadata,
            (ClassFrom::Metadata, Some(key)) => case.metadata.as_object()?.get(key)?,
        };
        (!value.is_null()).then(|| python::text(value))
    }
}

#[async_trait]
impl ReportEvaluator<Untyped> for ConfusionMatrix {
    fn name(&self) -> &'static str {
        NAME
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(self.spec.clone())
    }

    async fn evaluate(&self, report: &Report<Untyped>) -> Result<Vec<Analysis>, EvaluatorError> {
        let pairs = report.cases.iter().filter_map(|case| {
            let output = case.result.output()?;
            Some((
                self.expected.class(case, output)?,
                self.predicted.class(case, output)?,
            ))
        });
        let pairs: Vec<(String, String)> = pairs.collect();
        let classes: BTreeSet<&String> =
            pairs.iter().flat_map(|(one, other)| [one, other]).collect();
        let class_labels: Vec<String> = classes.into_iter().cloned().collect();
        let mut matrix = vec![vec![0; class_labels.len()]; class_labels.len()];
        let place = |class| {
            let place = class_labels.binary_search(class);
            place.expect("every class has a label")
        };
        for (expected, predicted) in &pairs {
            matrix[place(expected)][place(predicted)] += 1;
        }
        let total = report.cases.len();
        let description = (pairs.len() < total).then(|| {
            format!(
                "{} of {total} cases; the others failed or lack a class",
                pairs.len()
            )
        });
        Ok(vec![Analysis::ConfusionMatrix {
            title: self.title.clone(),
            description,
            class_labels,
            matrix,
        }])
    }
}
