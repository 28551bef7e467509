//! The JSON Schema of dataset files accepts what the reader accepts, and refuses mistakes that an editor should underline.

use std::path::Path;

use evals_evaluators::{DatasetFile, FileFormat, Registry, Resources, schema};
use serde_json::{Map, Value, json};

const SOURCE: &str = include_str!("../golden/dataset_files/source.yaml");
const WRITTEN: &str = include_str!("../golden/dataset_files/written.json");
const GOLDEN: &str = include_str!("../golden/dataset_files/loads.json");

const CASE: &str = "cases:\n- inputs: 1\n  evaluators:\n  - ";

/// Files that only one of the two accepts.
const DISAGREEMENTS: [&str; 9] = [
    // In JSON the key of `Equals: {1: 2}` is a text, and its mapping holds arguments by name.
    "{name: Equals, arguments: [{a: 1}]}\n  - {name: Equals, arguments: {value: {a: 1}}}\n  - {name: EqualsExpected, arguments: null}\n  - Equals: {value: 3}\n  - Equals: [1,2]\n  - Equals: {1: 2}\n  - Contains: {value: x, case_sensitive: false}\n  - EqualsExpected\n  - EqualsExpected: foo\n  - EqualsExpected: {}\n  - EqualsExpected: null\n  - LLMJudge: {rubric: r, score: {}, assertion: false}",
    // The types of some arguments matter only when the evaluator runs.
    "MaxDuration: '2'",
    // A schema does not compare cases.
    "cases:\n- name: a\n  inputs: 1\n- name: a\n  inputs: 2",
    // Further keys are a warning of the reader.
    "{name: Equals, arguments: [1], extra: 2}",
    "{name: Equals, arguments: {value: 1}, extra: 2}",
    "EqualsExpected: [a]",
    // A schema does not compare numbers.
    "GEval: {criteria: c, evaluation_steps: [a], score_range: [5, 1]}",
    "cases: [{inputs: 1, name: ''}, {inputs: 1, name: ''}]",
    "{\"name\": \"n\", \"cases\": [{\"inputs\": 1}], \"evaluators\": [{\"GEval\": {\"criteria\": \"c\", \"evaluation_steps\": [\"a\"], \"score_range\": [5, 1]}}]}",
];

/// Checks values as a JSON Schema validator does, with the keywords that the schema of dataset files needs. Keywords beyond them,
/// such as `pattern`, only narrow the arguments of single evaluators and are not looked at.
struct Validator {
    schema: Value,
}

impl Validator {
    fn is_valid(&self, value: &Value) -> bool {
        self.allows(&self.schema, value)
    }

    fn allows(&self, schema: &Value, value: &Value) -> bool {
        match schema {
            Value::Bool(allows) => *allows,
            Value::Object(keywords) => keywords
                .iter()
                .all(|(keyword, operand)| self.holds(keyword, operand, keywords, value)),
            other => panic!("not a schema: {other}"),
        }
    }

    fn holds(
        &self,
        keyword: &str,
        operand: &Value,
        keywords: &Map<String, Value>,
        value: &Value,
    ) -> bool {
        let schemas = || operand.as_array().unwrap().iter();
        let is_long_enough = |least: bool| {
            let (length, limit) = (value.as_array().map(Vec::len), operand.as_u64().unwrap());
            length.is_none_or(|length| {
                if least {
                    length as u64 >= limit
                } else {
                    length as u64 <= limit
                }
            })
        };
        match keyword {
            "$ref" => {
                let pointer = operand.as_str().unwrap().strip_prefix('#').unwrap();
                self.allows(self.schema.pointer(pointer).unwrap(), value)
            }
            "type" => match operand {
                Value::Array(types) => types.iter().any(|name| has_type(name, value)),
                name => has_type(name, value),
            },
            "const" => value == operand,
            "enum" => schemas().any(|allowed| allowed == value),
            "anyOf" => schemas().any(|schema| self.allows(schema, value)),
            "oneOf" => {
                schemas()
                    .filter(|schema| self.allows(schema, value))
                    .count()
                    == 1
            }
            "allOf" => schemas().all(|schema| self.allows(schema, value)),
            "not" => !self.allows(operand, value),
            "minItems" => is_long_enough(true),
            "maxItems" => is_long_enough(false),
            "items" => value
                .as_array()
                .is_none_or(|items| items.iter().all(|item| self.allows(operand, item))),
            "required" => value.as_object().is_none_or(|object| {
                schemas().all(|key| object.contains_key(key.as_str().unwrap()))
            }),
            "properties" => value.as_object().is_none_or(|object| {
                let known = operand.as_object().unwrap();
                object.iter().all(|(key, value)| {
                    known
                        .get(key)
                        .is_none_or(|schema| self.allows(schema, value))
                })
            }),
            "additionalProperties" => value.as_object().is_none_or(|object| {
                let known = keywords.get("properties").and_then(Value::as_object);
                let mut others = object
                    .iter()
                    .filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
                others.all(|(_, value)| self.allows(operand, value))
            }),
            _ => true,
        }
    }
}

fn has_type(name: &Value, value: &Value) -> bool {
    match name.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type of JSON: {other}"),
    }
}

fn validator() -> Validator {
    let schema = schema(&Registry::built_in());
    Validator { schema }
}

/// The file as an editor sees it.
fn value(text: &str) -> Value {
    evals_yaml::yaml11::read(text).unwrap().root.to_value()
}

#[test]
fn files_that_load_are_valid() {
    let validator = validator();
    let written: Value = serde_json::from_str(WRITTEN).unwrap();
    for file in [written, value(SOURCE)] {
        assert!(validator.is_valid(&file), "{file:#}");
    }
}

#[test]
fn the_schema_agrees_with_the_reader_on_the_golden_files() {
    let validator = validator();
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let mut disagreements = Vec::new();
    for entry in golden["loads"].as_array().unwrap() {
        let text = entry["text"].as_str().unwrap();
        // JSON is YAML too, and only this reader gives a tree for a text with other mistakes.
        let Ok(document) = evals_yaml::yaml11::read(text) else {
            continue;
        };
        if !document.errors.is_empty() {
            continue;
        }
        let path = Path::new("f.yaml");
        let (registry, resources) = (Registry::built_in(), Resources::default());
        let loads = DatasetFile::read(text, FileFormat::Yaml, path, &registry, &resources).is_ok();
        if validator.is_valid(&document.root.to_value()) != loads {
            disagreements.push(text);
        }
    }
    let shortened = disagreements
        .iter()
        .map(|text| text.trim_start_matches(CASE).trim_end());
    assert_eq!(shortened.collect::<Vec<_>>(), DISAGREEMENTS);
}

#[test]
fn an_unknown_key_or_evaluator_is_not_valid() {
    let validator = validator();
    for file in [
        json!({"cases": [], "evaluator": []}),
        json!({"cases": [{"inputs": 1, "expected": 2}]}),
        json!({"cases": [], "evaluators": ["Nope"]}),
        json!({"cases": [], "evaluators": [{"Contains": {"value": "a", "case": true}}]}),
        json!({"cases": [], "report_evaluators": ["EqualsExpected"]}),
    ] {
        assert!(!validator.is_valid(&file), "{file}");
    }
}
