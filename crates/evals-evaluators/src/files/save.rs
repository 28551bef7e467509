//! Writes dataset files as pydantic-evals writes them.

use evals::{EvaluatorSpec, SpecArguments};
use evals_yaml::to_yaml;
use serde_json::{Map, Value, json};

use super::dataset_file::{DatasetFile, FileCase, FileEvaluator};
use crate::Registry;

impl DatasetFile {
    /// The file as YAML. Nulls and empty lists of cases are written; evaluators are as brief as they can be read, without
    /// arguments that equal the defaults of their entry in `registry`. `schema` is the path of a JSON Schema for editors,
    /// relative to the file.
    ///
    /// Reading the text gives this value again, apart from places and from how evaluators are written.
    pub fn to_yaml(&self, registry: &Registry, schema: Option<&str>) -> String {
        let comment = schema.map_or(String::new(), |schema| {
            format!("# yaml-language-server: $schema={schema}\n")
        });
        comment + &to_yaml(&self.value(registry, None))
    }

    /// The file as JSON, otherwise as [`to_yaml`](Self::to_yaml).
    pub fn to_json(&self, registry: &Registry, schema: Option<&str>) -> String {
        format!("{:#}\n", self.value(registry, schema))
    }

    fn value(&self, registry: &Registry, schema: Option<&str>) -> Value {
        let list = |evaluators: &[FileEvaluator]| written(evaluators, registry);
        let mut file = Map::new();
        if let Some(schema) = schema {
            file.insert("$schema".to_owned(), schema.into());
        }
        file.insert("name".to_owned(), self.name.clone().into());
        let cases = self.cases.iter().map(|case| value_of(case, registry));
        file.insert("cases".to_owned(), cases.collect());
        file.insert("evaluators".to_owned(), list(&self.evaluators));
        file.insert(
            "report_evaluators".to_owned(),
            list(&self.report_evaluators),
        );
        if let Some((cluster, _)) = &self.cluster {
            file.insert("cluster".to_owned(), cluster.to_string().into());
        }
        if let Some(target) = &self.target {
            file.insert("target".to_owned(), target.to_value());
        }
        Value::Object(file)
    }
}

fn value_of(case: &FileCase, registry: &Registry) -> Value {
    json!({
        "name": case.name,
        "inputs": case.inputs,
        "metadata": case.metadata,
        "expected_output": case.expected,
        "evaluators": written(&case.evaluators, registry),
    })
}

fn written(evaluators: &[FileEvaluator], registry: &Registry) -> Value {
    evaluators
        .iter()
        .map(|evaluator| brief(&evaluator.spec, registry))
        .collect()
}

/// The briefest form of an evaluator that reads back as the same.
fn brief(spec: &EvaluatorSpec, registry: &Registry) -> Value {
    let EvaluatorSpec { name, arguments } = spec;
    let bound = registry.entry(name).and_then(|entry| {
        Some(
            entry
                .signature()
                .write(&entry.signature().bind(name, arguments).ok()?),
        )
    });
    match bound.as_ref().unwrap_or(arguments) {
        SpecArguments::None => name.clone().into(),
        // An object in the brief form would be read as arguments by name.
        SpecArguments::Positional([Value::Object(argument)]) => {
            json!({"name": name, "arguments": [argument]})
        }
        SpecArguments::Positional([argument]) => json!({ name: argument }),
        SpecArguments::Named(named) => json!({ name: named }),
    }
}
