//! `JsonSchema`: whether the output is valid under a JSON Schema.

use std::fs;
use std::path::{Path, PathBuf};

use evals::{Context, EvaluatorError};
use jsonschema::Validator;
use serde_json::{Value, json};
use thiserror::Error;

use super::check::{self, Check};
use crate::python::truncated;
use crate::{ArgumentError, Entry, Finding, Parameter, Untyped};

/// A reason lists at most so many mistakes, and shows at most so many characters of each.
const SHOWN_MISTAKES: usize = 3;
const SHOWN_MISTAKE: usize = 200;

/// Validates the output.
#[derive(Debug)]
struct JsonSchema {
    validator: Validator,
    parse: Parse,
}

/// What of the output is validated.
#[derive(Clone, Copy, Debug)]
enum Parse {
    /// The output itself.
    Nothing,
    /// The JSON that an output holds that is a text.
    Text,
    /// Each JSON object inside the output's text. One has to be valid.
    Inside,
}

const PARSE: &str = "`true`, `false` or `inside`";

/// Why a schema cannot be used.
#[derive(Debug, Error)]
enum SchemaError {
    #[error("cannot read the schema `{}`: {source}", path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("the schema `{}` is not JSON: {source}", path.display())]
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
                json!({"enum": [false, true, "inside"]}),
                "Whether a text output is read as JSON first. With `inside`, one of the JSON objects in the text has to be valid.",
            ),
            Parameter::evaluation_name(),
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
                parse: parse(arguments.value("parse"))?,
            })
        },
    )
}

fn parse(written: &Value) -> Result<Parse, ArgumentError> {
    match written {
        Value::Bool(false) => Ok(Parse::Nothing),
        Value::Bool(true) => Ok(Parse::Text),
        Value::String(inside) if inside == "inside" => Ok(Parse::Inside),
        other => Err(ArgumentError::new("parse", PARSE, other)),
    }
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
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let mistakes = match (self.parse, context.output) {
            (Parse::Text, Value::String(text)) => match serde_json::from_str(text) {
                Ok(value) => self.mistakes(&value),
                Err(error) => Some(format!("the output is not JSON: {error}")),
            },
            (Parse::Inside, Value::String(text)) => self.mistakes_inside(text),
            (Parse::Inside, output) => self.mistakes_inside(&output.to_string()),
            (Parse::Nothing | Parse::Text, output) => self.mistakes(output),
        };
        Ok(mistakes.map_or_else(|| Finding::passed(true), Finding::failed))
    }
}

impl JsonSchema {
    /// What is wrong with a value.
    fn mistakes(&self, value: &Value) -> Option<String> {
        let mistakes = self.validator.iter_errors(value).map(|error| {
            let place = error.instance_path().as_str();
            let mistake = truncated(error.to_string(), SHOWN_MISTAKE);
            if place.is_empty() {
                mistake
            } else {
                format!("at `{place}`: {mistake}")
            }
        });
        let mut mistakes: Vec<String> = mistakes.collect();
        let further = mistakes.len().saturating_sub(SHOWN_MISTAKES);
        mistakes.truncate(SHOWN_MISTAKES);
        if further > 0 {
            mistakes.push(format!("and {further} more"));
        }
        (!mistakes.is_empty()).then(|| mistakes.join("; "))
    }

    /// What is wrong with the first object in a text, unless another one is valid.
    fn mistakes_inside(&self, text: &str) -> Option<String> {
        let mut of_first = None;
        let mut count = 0_usize;
        for object in objects(text) {
            // One without mistakes is enough.
            let mistakes = self.mistakes(&object)?;
            of_first.get_or_insert(mistakes);
            count += 1;
        }
        Some(match (of_first, count) {
            (None, _) => "the output contains no JSON object".to_owned(),
            (Some(mistakes), 1) => mistakes,
            (Some(mistakes), _) => {
                format!("none of {count} JSON objects is valid; the first: {mistakes}")
            }
        })
    }
}

/// The outermost JSON objects in a text.
fn objects(text: &str) -> impl Iterator<Item = Value> + '_ {
    let mut rest = text;
    std::iter::from_fn(move || {
        while let Some(start) = rest.find('{') {
            let candidate = &rest[start..];
            let mut values = serde_json::Deserializer::from_str(candidate).into_iter::<Value>();
            if let Some(Ok(object)) = values.next() {
                rest = &candidate[values.byte_offset()..];
                return Some(object);
            }
            rest = &candidate[1..];
        }
        None
    })
}
