//! `IsInstance`: whether the output has a type.

use evals::{Context, EvaluatorError};
use serde::Deserialize;
use serde_json::Value;

use super::check::{self, Check};
use crate::python::type_name;
use crate::{Entry, Finding, Parameter, Untyped};

/// Compares the Python type of the output, and the types that it derives from, with a name.
#[derive(Debug, Deserialize)]
struct IsInstance {
    /// A value that is not a text never equals the name of a type.
    type_name: Value,
}

pub(super) fn entry() -> Entry {
    let wanted = Parameter::text(
        "type_name",
        "A type: `str`, `int`, `float`, `bool` (also an `int`), `list`, `dict`, `NoneType`, or `object` for any value.",
    );
    check::lenient::<IsInstance>(
        "IsInstance",
        "Passes if the output is of a type, named as in Python.",
        [wanted, Parameter::evaluation_name()],
    )
}

impl Check for IsInstance {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let found = type_name(context.output);
        let is_instance = self.type_name == found
            || self.type_name == "object"
            || (self.type_name == "int" && context.output.is_boolean());
        if is_instance {
            return Ok(Finding::passed(true));
        }
        Ok(Finding::failed(format!("output is of type {found}")))
    }
}
