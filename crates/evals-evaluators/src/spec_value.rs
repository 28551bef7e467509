//! Evaluators that are the argument of another one.

use evals::{EvaluatorSpec, SpecArguments};
use serde_json::Value;

/// Reads an evaluator as a dataset file lists it. Returns `None` if the value is not an evaluator.
pub(crate) fn spec_of(written: &Value) -> Option<EvaluatorSpec> {
    let of = |name: &str, arguments| EvaluatorSpec {
        name: name.to_owned(),
        arguments,
    };
    let members = match written {
        Value::String(name) => return Some(of(name, SpecArguments::None)),
        Value::Object(members) => members,
        _ => return None,
    };
    if let (Some(name), Some(arguments), 2) =
        (members.get("name"), members.get("arguments"), members.len())
    {
        let arguments = match arguments {
            Value::Null => SpecArguments::None,
            Value::Object(named) => SpecArguments::Named(named.clone()),
            Value::Array(items) => match items.as_slice() {
                [item] => SpecArguments::Positional([item.clone()]),
                _ => return None,
            },
            _ => return None,
        };
        return Some(of(name.as_str()?, arguments));
    }
    let mut members = members.iter();
    match (members.next(), members.next()) {
        (Some((name, argument)), None) => Some(of(
            name,
            match argument {
                Value::Object(named) => SpecArguments::Named(named.clone()),
                argument => SpecArguments::Positional([argument.clone()]),
            },
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_of_a_dataset_file_is_read() {
        let positional = |value: Value| SpecArguments::Positional([value]);
        let Value::Object(named) = json!({"value": {"a": 1}}) else {
            panic!("not an object")
        };
        let named = SpecArguments::Named(named);
        for (written, arguments) in [
            (json!("Equals"), SpecArguments::None),
            (json!({"Equals": 1}), positional(json!(1))),
            (json!({"Equals": [1]}), positional(json!([1]))),
            (json!({"Equals": null}), positional(json!(null))),
            (json!({"Equals": {"value": {"a": 1}}}), named.clone()),
            (
                json!({"name": "Equals", "arguments": null}),
                SpecArguments::None,
            ),
            (
                json!({"name": "Equals", "arguments": [{"a": 1}]}),
                positional(json!({"a": 1})),
            ),
            (
                json!({"name": "Equals", "arguments": {"value": {"a": 1}}}),
                named,
            ),
        ] {
            let read = spec_of(&written).unwrap();
            assert_eq!(
                (read.name.as_str(), read.arguments),
                ("Equals", arguments),
                "{written}"
            );
        }
        for wrong in [
            json!(null),
            json!(["Equals"]),
            json!({}),
            json!({"Equals": 1, "Contains": 2}),
            json!({"name": "Equals", "arguments": [1, 2]}),
            json!({"name": 5, "arguments": null}),
        ] {
            assert_eq!(spec_of(&wrong), None, "{wrong}");
        }
    }
}
