//! The JSON Schema of dataset files, for editors.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::{Entry, Registry};

/// The JSON Schema of dataset files whose evaluators are those of `registry`.
pub fn schema(registry: &Registry) -> Value {
    let (reports, cases): (Vec<&Entry>, Vec<&Entry>) = registry
        .entries()
        .iter()
        .partition(|entry| entry.judges_reports());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Dataset file",
        "description": "Cases of an evaluation, and the evaluators that judge them.",
        "type": "object",
        "properties": {
            "$schema": {"type": ["string", "null"], "description": "The path of this schema."},
            "name": {"type": ["string", "null"], "description": "The dataset's name; the file's name without its extension by default."},
            "cases": {"type": "array", "items": {"$ref": "#/$defs/case"}, "description": "The cases."},
            "evaluators": {
                "type": "array", "items": {"$ref": "#/$defs/evaluator"}, "description": "The evaluators of every case.",
            },
            "report_evaluators": {
                "type": "array", "items": {"$ref": "#/$defs/report_evaluator"}, "description": "The evaluators of the whole report.",
            },
            "cluster": {
                "type": "string", "pattern": "^(document|none|metadata:.+)$",
                "description": "What makes cases a cluster, which may depend on each other: `document` for cases that share a relevant document, or `metadata:KEY`. pydantic-evals does not read a file with this key.",
            },
            "target": {"description": "What to test. pydantic-evals does not read a file with this section."},
        },
        "required": ["cases"],
        "additionalProperties": false,
        "$defs": {
            "case": {
                "type": "object",
                "properties": {
                    "name": {"type": ["string", "null"], "description": "The case's name, unlike that of any other case."},
                    "inputs": {"description": "What the target is asked."},
                    "metadata": {"description": "Further facts about the case."},
                    "expected_output": {"description": "What the output is compared with; null for none."},
                    "evaluators": {
                        "type": "array", "items": {"$ref": "#/$defs/evaluator"}, "description": "Evaluators of this case only.",
                    },
                },
                "required": ["inputs"],
                "additionalProperties": false,
            },
            "evaluator": any_of(&cases),
            "report_evaluator": any_of(&reports),
        },
    })
}

/// Where pydantic-evals keeps the schema of a dataset file: beside it, as `STEM_schema.json`.
pub fn schema_beside(file: &Path) -> PathBuf {
    let stem = file
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    file.with_file_name(format!("{}_schema.json", stem.unwrap_or_default()))
}

/// Every written form of every evaluator.
fn any_of(entries: &[&Entry]) -> Value {
    let forms: Vec<Value> = entries.iter().flat_map(|entry| forms(entry)).collect();
    if forms.is_empty() {
        // `anyOf` needs at least one schema.
        return json!(false);
    }
    json!({ "anyOf": forms })
}

fn forms(entry: &Entry) -> Vec<Value> {
    let name = entry.name();
    let parameters = entry.signature().parameters();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|parameter| parameter.default.is_none())
        .map(|parameter| parameter.name)
        .collect();
    let by_name: Map<String, Value> = parameters
        .iter()
        .map(|parameter| {
            let mut schema = described(&parameter.schema, parameter.description);
            if let (Some(default), Some(schema)) = (&parameter.default, schema.as_object_mut()) {
                schema.insert("default".to_owned(), default.clone());
            }
            (parameter.name.to_owned(), schema)
        })
        .collect();
    let named = json!({"type": "object", "properties": by_name, "required": required, "additionalProperties": false});
    let takes_none = required.is_empty();
    // The brief form takes an argument by position if that is all it needs, but no mapping, which holds arguments by name.
    let first = parameters
        .first()
        .filter(|first| required.iter().all(|name| *name == first.name));
    let first = first.map(|first| described(&first.schema, first.description));
    let mut argument = vec![named.clone()];
    let mut arguments = vec![named];
    if let Some(first) = first {
        argument.push(json!({"allOf": [first.clone(), {"not": {"type": "object"}}]}));
        arguments.push(json!({"type": "array", "items": first, "minItems": 1, "maxItems": 1}));
    }
    if takes_none {
        arguments.push(json!({"type": "null"}));
    }
    let mut forms = Vec::new();
    if takes_none {
        forms.push(json!({"const": name, "description": entry.description()}));
    }
    forms.push(json!({
        "type": "object",
        "description": entry.description(),
        "properties": {name: {"anyOf": argument}},
        "required": [name],
        "additionalProperties": false,
    }));
    forms.push(json!({
        "type": "object",
        "description": entry.description(),
        "properties": {"name": {"const": name}, "arguments": {"anyOf": arguments}},
        "required": ["name", "arguments"],
        "additionalProperties": false,
    }));
    forms
}

/// A schema with a description.
fn described(schema: &Value, description: &str) -> Value {
    let mut schema = match schema {
        Value::Object(schema) => schema.clone(),
        // `true` and `{}` mean the same.
        Value::Bool(true) => Map::new(),
        other => return other.clone(),
    };
    schema
        .entry("description")
        .or_insert_with(|| description.into());
    Value::Object(schema)
}
