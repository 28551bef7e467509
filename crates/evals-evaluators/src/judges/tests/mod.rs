//! Tests of the judges against scripted models.

mod attacks;
mod fuzz;
mod g_eval;
mod rubric;
mod scripted;

use std::sync::Arc;

use evals::{Case, Context, Evaluator, EvaluatorError, EvaluatorSpec, Outcome, SpecArguments};
use serde_json::Value;

use crate::{Built, Registry, RegistryError, Resources, Untyped};
use scripted::{Only, Scripted};

/// A specification with arguments by name.
fn spec(name: &str, arguments: &Value) -> EvaluatorSpec {
    EvaluatorSpec {
        name: name.to_owned(),
        arguments: SpecArguments::Named(arguments.as_object().unwrap().clone()),
    }
}

/// Builds an evaluator whose model is `model`.
fn build(
    name: &str,
    arguments: &Value,
    model: &Arc<Scripted>,
) -> Result<Arc<dyn Evaluator<Untyped>>, RegistryError> {
    let resources = Resources {
        models: Some(Arc::new(Only(Arc::clone(model)))),
        ..Resources::default()
    };
    match Registry::built_in().build(&spec(name, arguments), &resources)? {
        Built::Case(evaluator) => Ok(evaluator),
        Built::Report(_) => panic!("`{name}` judges reports"),
    }
}

/// The message of an evaluator that cannot be built.
fn refusal(name: &str, arguments: &Value) -> String {
    build(name, arguments, &Scripted::new([]))
        .unwrap_err()
        .to_string()
}

/// A case about the sky.
fn sky() -> Case<Untyped> {
    Case::new("sky", Value::from("What colour is the sky?")).expecting(Value::from("blue"))
}

/// Judges one output.
async fn judge(
    name: &str,
    arguments: &Value,
    model: &Arc<Scripted>,
    output: &Value,
) -> Result<Vec<Outcome>, EvaluatorError> {
    let evaluator = build(name, arguments, model).unwrap();
    let case = sky();
    evaluator.evaluate(&Context::new(&case, output)).await
}

#[test]
fn every_prompt_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<&str> = crate::judge_prompts()
        .into_iter()
        .map(evals_rag::Prompt::name)
        .collect();
    assert_eq!(names.len(), crate::judge_prompts().len());
}
