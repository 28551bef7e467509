//! `ConfusionMatrixEvaluator`: how often each expected class was predicted as which class.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use evals::{
    Analysis, CaseReport, EvaluatorError, EvaluatorSpec, Report, ReportEvaluator, Value as Verdict,
};
use serde_json::{Value, json};
use thiserror::Error;

use crate::argument::{choice, optional_text, text};
use crate::{Arguments, BuildError, Entry, Parameter, Signature, Untyped, python, result_keys};

const NAME: &str = "ConfusionMatrixEvaluator";

const SOURCES: [(&str, From); 4] = [
    ("expected_output", From::Expected),
    ("output", From::Output),
    ("metadata", From::Metadata),
    ("labels", From::Labels),
];
const ONE_OF_THEM: &str = "`expected_output`, `output`, `metadata` or `labels`";

/// Counts predicted against expected classes.
#[derive(Debug)]
struct ConfusionMatrix {
    spec: EvaluatorSpec,
    title: String,
    predicted: Source,
    expected: Source,
}

/// The place of a class in a case.
#[derive(Debug)]
struct Source {
    from: From,
    key: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Expected,
    Output,
    Metadata,
    Labels,
}

/// A class from labels without the label's name.
#[derive(Debug, Error)]
#[error("`{key}` must name a label, because `{from}` is `labels`")]
struct NoKey {
    key: &'static str,
    from: &'static str,
}

/// The entry of `ConfusionMatrixEvaluator`.
pub(super) fn entry() -> Entry {
    let from = |name, default: &str, description| {
        let sources: Vec<&str> = SOURCES.iter().map(|(name, _)| *name).collect();
        Parameter::optional(name, json!(default), json!({"enum": sources}), description)
    };
    let key = |name, description| {
        Parameter::optional(
            name,
            Value::Null,
            json!({"type": ["string", "null"]}),
            description,
        )
    };
    let signature = Signature::new([
        from(
            "predicted_from",
            "output",
            "Where the predicted class of a case is: `expected_output`, `output`, `metadata` or `labels`.",
        ),
        key(
            "predicted_key",
            "The key of the predicted class in the metadata, or its label.",
        ),
        from(
            "expected_from",
            "expected_output",
            "Where the expected class of a case is: `expected_output`, `output`, `metadata` or `labels`.",
        ),
        key(
            "expected_key",
            "The key of the expected class in the metadata, or its label.",
        ),
        Parameter::optional(
            "title",
            json!("Confusion Matrix"),
            json!({"type": "string"}),
            "The title of the analysis.",
        ),
    ]);
    let written = signature.clone();
    Entry::report(
        NAME,
        "Counts how often each expected class was predicted as which class.",
        signature,
        move |arguments, _| {
            let spec = EvaluatorSpec {
                name: NAME.to_owned(),
                arguments: written.write(arguments),
            };
            Ok(Arc::new(ConfusionMatrix::read(arguments, spec)?))
        },
    )
}

impl ConfusionMatrix {
    fn read(arguments: &Arguments, spec: EvaluatorSpec) -> Result<Self, BuildError> {
        Ok(Self {
            spec,
            title: text(arguments, "title", "a text")?,
            predicted: Source::read(arguments, "predicted_from", "predicted_key")?,
            expected: Source::read(arguments, "expected_from", "expected_key")?,
        })
    }
}

impl Source {
    fn read(
        arguments: &Arguments,
        from_name: &'static str,
        key_name: &'static str,
    ) -> Result<Self, BuildError> {
        let from = choice(arguments, from_name, &SOURCES, ONE_OF_THEM)?;
        let key = optional_text(arguments, key_name, "a text")?;
        if from == From::Labels && key.is_none() {
            return Err(NoKey {
                key: key_name,
                from: from_name,
            }
            .into());
        }
        Ok(Self { from, key })
    }

    /// The class of a case with this output. Values other than texts are written as Python's `str` does.
    fn class(&self, case: &CaseReport<Untyped>, output: &Value) -> Option<String> {
        let value = match (self.from, &self.key) {
            (From::Labels, key) => {
                return match result_keys::value(case, key.as_deref()?)? {
                    Verdict::Label(label) => Some(label.clone()),
                    Verdict::Assertion(_) | Verdict::Score(_) | Verdict::Undefined => None,
                };
            }
            (From::Expected, _) => case.expected.as_ref()?,
            (From::Output, _) => output,
            (From::Metadata, None) => &case.metadata,
            (From::Metadata, Some(key)) => case.metadata.as_object()?.get(key)?,
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
