//! Signatures: the parameters of an evaluator, and how the arguments of a dataset file bind to them.

use evals::{EvaluatorSpec, SpecArguments};
use evals_messages::{mismatch, nearest};
use evals_models::redacted;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use thiserror::Error;

/// The parameters of an evaluator, in order. The first one takes a positional argument.
#[derive(Clone, Debug)]
pub struct Signature {
    parameters: Vec<Parameter>,
}

/// One parameter of an evaluator.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its meaning in one sentence, for the JSON Schema of dataset files.
    pub description: &'static str,
    /// The JSON Schema of its values; `true` allows any.
    pub schema: Value,
    /// The value that it has without an argument; `None` if an argument is required.
    pub default: Option<Value>,
}

/// The arguments of one evaluator, one value for each parameter, defaults included.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    values: Map<String, Value>,
    spec: EvaluatorSpec,
}

/// An argument that cannot be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{name}`: {problem}")]
pub struct ArgumentError {
    name: String,
    problem: String,
}

/// Arguments that do not fit a signature.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureError {
    /// An argument has the name of no parameter.
    #[error("`{evaluator}` has no argument `{argument}`{}", hint(.known, .argument))]
    Unknown {
        /// Name of the evaluator.
        evaluator: String,
        /// The argument.
        argument: String,
        /// The names of its parameters.
        known: Vec<&'static str>,
    },
    /// Required arguments are missing.
    #[error("`{evaluator}` needs {}", listed(.missing))]
    Missing {
        /// Name of the evaluator.
        evaluator: String,
        /// The names of the missing arguments.
        missing: Vec<&'static str>,
    },
    /// An evaluator without parameters was given one.
    #[error("`{evaluator}` takes no arguments")]
    TakesNone {
        /// Name of the evaluator.
        evaluator: String,
    },
}

fn hint(known: &[&'static str], argument: &str) -> String {
    if known.is_empty() {
        return "; it takes none".to_owned();
    }
    let near = nearest::all(argument, known.iter().copied());
    if near.is_empty() {
        format!("; it has `{}`", known.join("`, `"))
    } else {
        nearest::did_you_mean(near)
    }
}

fn listed(missing: &[&'static str]) -> String {
    let noun = if missing.len() == 1 {
        "argument"
    } else {
        "arguments"
    };
    format!("the {noun} `{}`", missing.join("`, `"))
}

impl ArgumentError {
    /// The argument is not what is `expected`.
    pub(crate) fn new(name: &str, expected: &str, given: &Value) -> Self {
        Self {
            name: name.to_owned(),
            problem: format!("expected {expected}, found `{given}`"),
        }
    }
}

impl Parameter {
    /// The parameter that names the outcome.
    pub(crate) const EVALUATION_NAME: &str = "evaluation_name";

    /// A parameter that needs an argument.
    pub fn required(name: &'static str, schema: Value, description: &'static str) -> Self {
        Self {
            name,
            description,
            schema,
            default: None,
        }
    }

    /// A parameter with a default.
    pub fn optional(
        name: &'static str,
        default: Value,
        schema: Value,
        description: &'static str,
    ) -> Self {
        Self {
            name,
            description,
            schema,
            default: Some(default),
        }
    }

    /// A flag with a default.
    pub(crate) fn flag(name: &'static str, default: bool, description: &'static str) -> Self {
        Self::optional(
            name,
            default.into(),
            json!({"type": "boolean"}),
            description,
        )
    }

    /// A text that is needed.
    pub(crate) fn text(name: &'static str, description: &'static str) -> Self {
        Self::required(name, json!({"type": "string"}), description)
    }

    /// A text that may be `null`.
    pub(crate) fn optional_text(name: &'static str, description: &'static str) -> Self {
        Self::optional(
            name,
            Value::Null,
            json!({"type": ["string", "null"]}),
            description,
        )
    }

    /// One of several words.
    pub(crate) fn choice(
        name: &'static str,
        default: &str,
        words: &[&str],
        description: &'static str,
    ) -> Self {
        Self::optional(name, default.into(), json!({"enum": words}), description)
    }

    /// The name of the outcome; without one, it is that of the evaluator.
    pub(crate) fn evaluation_name() -> Self {
        Self::optional_text(
            Self::EVALUATION_NAME,
            "Names the outcome in reports, in place of the evaluator's own name.",
        )
    }
}

impl Signature {
    /// A signature with these parameters.
    pub fn new(parameters: impl IntoIterator<Item = Parameter>) -> Self {
        Self {
            parameters: parameters.into_iter().collect(),
        }
    }

    /// The parameters, in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Binds written arguments to the parameters.
    pub fn bind(
        &self,
        evaluator: &str,
        written: &SpecArguments,
    ) -> Result<Arguments, SignatureError> {
        let name = evaluator;
        let evaluator = || name.to_owned();
        let mut values = Map::new();
        match written {
            SpecArguments::None => {}
            SpecArguments::Positional([value]) => {
                let first = self.parameters.first();
                let first = first.ok_or_else(|| SignatureError::TakesNone {
                    evaluator: evaluator(),
                })?;
                values.insert(first.name.to_owned(), value.clone());
            }
            SpecArguments::Named(named) => {
                for (name, value) in named {
                    if !self.parameters.iter().any(|known| known.name == name) {
                        return Err(SignatureError::Unknown {
                            evaluator: evaluator(),
                            argument: name.clone(),
                            known: self.parameters.iter().map(|known| known.name).collect(),
                        });
                    }
                    values.insert(name.clone(), value.clone());
                }
            }
        }
        let missing: Vec<&'static str> = self
            .parameters
            .iter()
            .filter(|known| known.default.is_none() && !values.contains_key(known.name))
            .map(|known| known.name)
            .collect();
        if !missing.is_empty() {
            return Err(SignatureError::Missing {
                evaluator: evaluator(),
                missing,
            });
        }
        for parameter in &self.parameters {
            if let Some(default) = &parameter.default {
                values
                    .entry(parameter.name)
                    .or_insert_with(|| default.clone());
            }
        }
        let mut shown = values.clone();
        redact_settings_among(&mut shown);
        let spec = EvaluatorSpec {
            name: evaluator(),
            arguments: self.brief(&shown),
        };
        Ok(Arguments { values, spec })
    }

    /// Writes arguments as briefly as a dataset file allows, without those that equal their defaults: none at all, the first
    /// one by position unless it is an object, or by name.
    pub fn write(&self, arguments: &Arguments) -> SpecArguments {
        self.brief(&arguments.values)
    }

    fn brief(&self, values: &Map<String, Value>) -> SpecArguments {
        let written = self.parameters.iter().enumerate();
        let written: Vec<(usize, &Parameter, &Value)> = written
            .filter_map(|(place, known)| Some((place, known, values.get(known.name)?)))
            .filter(|(_, known, value)| known.default.as_ref() != Some(value))
            .collect();
        match written.as_slice() {
            [] => SpecArguments::None,
            [(0, _, value)] if !value.is_object() => SpecArguments::Positional([(*value).clone()]),
            written => SpecArguments::Named(
                written
                    .iter()
                    .map(|(_, known, value)| (known.name.to_owned(), (*value).clone()))
                    .collect(),
            ),
        }
    }
}

impl Arguments {
    /// The value of a parameter, as it is written; `null` for a name that the signature does not have.
    pub fn value(&self, name: &str) -> &Value {
        self.values.get(name).unwrap_or(&Value::Null)
    }

    /// Reads the values into a struct with fields of the parameters' names.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, ArgumentError> {
        let values = Value::Object(self.values.clone());
        serde_path_to_error::deserialize(values).map_err(|error| ArgumentError {
            name: error.path().to_string(),
            problem: mismatch::in_yaml(&error.inner().to_string()),
        })
    }

    /// The evaluator as a dataset file writes it most briefly. Reports and journals store it, so it has no credentials among the settings of
    /// a model, nor in those of an evaluator among its arguments.
    pub fn spec(&self) -> EvaluatorSpec {
        self.spec.clone()
    }
}

fn redact_settings_among(fields: &mut Map<String, Value>) {
    for (name, value) in fields {
        if name == "model_settings" {
            *value = redacted(value);
        } else {
            redact_settings(value);
        }
    }
}

fn redact_settings(value: &mut Value) {
    match value {
        Value::Object(fields) => redact_settings_among(fields),
        Value::Array(values) => values.iter_mut().for_each(redact_settings),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn contains() -> Signature {
        Signature::new([
            Parameter::required("value", json!(true), "What the output contains."),
            Parameter::optional(
                "case_sensitive",
                json!(true),
                json!({"type": "boolean"}),
                "Whether case counts.",
            ),
        ])
    }

    fn named(value: Value) -> SpecArguments {
        let Value::Object(map) = value else {
            panic!("not an object")
        };
        SpecArguments::Named(map)
    }

    #[test]
    fn a_positional_argument_is_the_first_parameter() {
        let bound = contains()
            .bind("Contains", &SpecArguments::Positional([json!("x")]))
            .unwrap();
        assert_eq!(bound.value("value"), "x");
        assert_eq!(bound.value("case_sensitive"), true);
    }

    #[test]
    fn wrong_arguments_are_refused_by_name() {
        let refused = |written: SpecArguments| {
            let error = contains().bind("Contains", &written).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            refused(SpecArguments::None),
            "`Contains` needs the argument `value`"
        );
        assert_eq!(
            refused(named(json!({"a": 1}))),
            "`Contains` has no argument `a`; it has `value`, `case_sensitive`"
        );
        let none = Signature::new([]);
        let error = none
            .bind("Never", &SpecArguments::Positional([json!(1)]))
            .unwrap_err();
        assert_eq!(error.to_string(), "`Never` takes no arguments");
    }

    #[test]
    fn arguments_are_written_as_briefly_as_they_can_be_read() {
        let signature = contains();
        let brief = |written: SpecArguments| {
            signature.write(&signature.bind("Contains", &written).unwrap())
        };
        let positional = SpecArguments::Positional([json!("x")]);
        assert_eq!(
            brief(named(json!({"value": "x", "case_sensitive": true}))),
            positional
        );
        for written in [
            named(json!({"value": {"k": 1}})),
            named(json!({"value": "x", "case_sensitive": false})),
        ] {
            assert_eq!(brief(written.clone()), written);
        }
    }
}
