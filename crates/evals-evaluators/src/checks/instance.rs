//! `IsInstance`: whether the output has a type.

use evals::{Context, EvaluatorError, ValueKind};
use serde_json::{Value, json};

use super::check::{self, Check};
use crate::python::type_name;
use crate::{Entry, Finding, Parameter, Untyped};

/// Compares the Python type of the output, and the types that it derives from, with a name.
#[derive(Debug)]
struct IsInstance {
    /// `None` if the argument is no text, which no type's name equals.
    wanted: Option<String>,
}

pub(super) fn entry() -> Entry {
    let wanted = Parameter::required(
        "type_name",
        json!({"type": "string"}),
        "A type: `str`, `int`, `float`, `bool` (also an `int`), `list`, `dict`, `NoneType`, or `object` for any value.",
    );
    check::lenient(
        "IsInstance",
        "Passes if the output is of a type, named as in Python.",
        [wanted, check::evaluation_name()],
        |arguments| {
            let wanted = arguments.value("type_name").as_str();
            Ok(IsInstance {
                wanted: wanted.map(str::to_owned),
            })
        },
    )
}

impl Check for IsInstance {
    const KIND: ValueKind = ValueKind::Assertion;

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let found = type_name(context.output);
        let also = match context.output {
            Value::Bool(_) => Some("int"),
            _ => None,
        };
        let wanted = self.wanted.as_deref();
        if wanted
            .is_some_and(|wanted| wanted == found || wanted == "object" || also == Some(wanted))
        {
            return Ok(Finding::passed(true));
        }
        Ok(Finding::failed(format!("output is of type {found}")))
    }
}
