//! `JsonSchema`: whether the output is valid under a JSON Schema.

use std::fs;
use std::path::{Path, PathBuf};

use evals::{Context, EvaluatorError, ValueKind};
use jsonschema::Validator;
use serde_json::{Value, json};
use thiserror::Error;

use super::check::{self, Check};
use crate::argument::{self, ArgumentError};
use crate::python::truncated;
use crate::{Entry, Finding, Parameter, Untyped};

/// A reason lists at most so many mistakes, and shows at most so many characters of each.
const SHOWN_MISTAKES: usize = 3;
const SHOWN_MISTAKE: usize = 200;

/// Validates the output.
#[derive(Debug)]
struct JsonSchema {
    validator: Validator,
    /// Whether an output that is a text holds JSON.
    parse: bool,
}

/// Why a schema cannot be used.
#[derive(Debug, Error)]
enum SchemaError {
    #[error("cannot read the schema `{}`: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the schema `{}` is no JSON: {source}", path.display())]
    Json {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("the schema is wrong{place}: {problem}")]
    Schema { place: String, problem: String },
}

pub(super) fn entry() -> Entry {
    check::strict(
        "JsonSchema",
        "Passes if the output is valid under a JSON Schema.",
        [
            Parameter::required(
                "schema",
                json!({"type": ["object", "boolean", "string"]}),
                "The schema, or the path of a JSON file that holds it, relative to the dataset file.",
            ),
            Parameter::optional(
                "parse",
                json!(false),
                json!({"type": "boolean"}),
                "Whether an output that is a text is read as JSON first.",
            ),
            check::evaluation_name(),
        ],
        |arguments, resources| {
            let schema = match arguments.value("schema") {
                Value::String(path) => read(resources.folder.as_deref(), path)?,
                schema @ (Value::Object(_) | Value::Bool(_)) => schema.clone(),
                other => {
                    return Err(ArgumentError::new("schema", "a schema or a path", other).into());
                }
            };
            Ok(JsonSchema {
                validator: validator(&schema)?,
                parse: argument::flag(arguments, "parse")?,
            })
        },
    )
}

fn read(folder: Option<&Path>, path: &str) -> Result<Value, SchemaError> {
    let path = folder.unwrap_or(Path::new("")).join(path);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(source) => return Err(SchemaError::Read { path, source }),
    };
    serde_json::from_str(&text).map_err(|source| SchemaError::Json { path, source })
}

fn validator(schema: &Value) -> Result<Validator, SchemaError> {
    jsonschema::validator_for(schema).map_err(|error| SchemaError::Schema {
        place: match error.instance_path().as_str() {
            "" => String::new(),
            place => format!(" at `{place}`"),
        },
        problem: truncated(error.to_string(), SHOWN_MISTAKE),
    })
}

impl Check for JsonSchema {
    const KIND: ValueKind = ValueKind::Assertion;

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let parsed: Value;
        let output = match context.output {
            Value::String(text) if self.parse => match serde_json::from_str(text) {
                Ok(value) => {
                    parsed = value;
                    &parsed
                }
                Err(error) => {
                    return Ok(Finding::failed(format!("the output is no JSON: {error}")));
                }
            },
            output => output,
        };
        let mistakes = self.validator.iter_errors(output).map(|error| {
            let place = error.instance_path().as_str();
            let mistake = truncated(error.to_string(), SHOWN_MISTAKE);
            if place.is_empty() {
                mistake
            } else {
                format!("at `{place}`: {mistake}")
            }
        });
        let mut mistakes: Vec<String> = mistakes.collect();
        if mistakes.is_empty() {
            return Ok(Finding::passed(true));
        }
        let further = mistakes.len().saturating_sub(SHOWN_MISTAKES);
        mistakes.truncate(SHOWN_MISTAKES);
        if further > 0 {
            mistakes.push(format!("and {further} more"));
        }
        Ok(Finding::failed(mistakes.join("; ")))
    }
}
