//! `Equals` and `EqualsExpected`: whether the output equals a value.

use evals::{Case, Context, EvaluatorError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::check::{self, Check};
use crate::{Entry, Finding, Parameter, Untyped, python};

/// Compares the output with a value.
#[derive(Debug, Deserialize)]
struct Equals {
    value: Value,
}

/// Compares the output with the expected one.
#[derive(Debug, Deserialize)]
struct EqualsExpected {}

pub(super) fn entries() -> [Entry; 2] {
    let value = Parameter::required(
        "value",
        json!(true),
        "The value that the output must equal.",
    );
    [
        check::lenient::<Equals>(
            "Equals",
            "Passes if the output equals a value.",
            [value, Parameter::evaluation_name()],
        ),
        check::lenient::<EqualsExpected>(
            "EqualsExpected",
            "Passes if the output equals the expected output; cases without one get no outcome.",
            [Parameter::evaluation_name()],
        ),
    ]
}

impl Check for Equals {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        Ok(Finding::passed(python::equal(context.output, &self.value)))
    }
}

impl Check for EqualsExpected {
    fn applies(&self, case: &Case<Untyped>) -> bool {
        case.expected
            .as_ref()
            .is_some_and(|expected| !expected.is_null())
    }

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let expected = context.case.expected.as_ref();
        let equal = expected.is_some_and(|expected| python::equal(context.output, expected));
        Ok(Finding::passed(equal))
    }
}
