//! `Equals` and `EqualsExpected`: whether the output equals a value.

use evals::{Case, Context, EvaluatorError, ValueKind};
use serde_json::{Value, json};

use super::check::{self, Check};
use crate::{Entry, Finding, Parameter, Untyped, python};

/// Compares the output with a value.
#[derive(Debug)]
struct Equals {
    value: Value,
}

/// Compares the output with the expected one.
#[derive(Debug)]
struct EqualsExpected;

pub(super) fn entries() -> [Entry; 2] {
    let value = Parameter::required(
        "value",
        json!(true),
        "The value that the output must equal.",
    );
    [
        check::lenient(
            "Equals",
            "Passes if the output equals a value.",
            [value, check::evaluation_name()],
            |arguments| {
                Ok(Equals {
                    value: arguments.value("value").clone(),
                })
            },
        ),
        check::lenient(
            "EqualsExpected",
            "Passes if the output equals the expected output; cases without one get no outcome.",
            [check::evaluation_name()],
            |_| Ok(EqualsExpected),
        ),
    ]
}

impl Check for Equals {
    const KIND: ValueKind = ValueKind::Assertion;

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        Ok(Finding::passed(python::equal(context.output, &self.value)))
    }
}

impl Check for EqualsExpected {
    const KIND: ValueKind = ValueKind::Assertion;

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
