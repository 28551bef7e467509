//! Tests of the judges against scripted models.

mod attacks;
mod fuzz;
mod g_eval;
mod rubric;
mod scripted;

use std::collections::BTreeSet;
use std::sync::Arc;

use evals::{Case, Context, Evaluator, EvaluatorError, EvaluatorSpec, Outcome, SpecArguments};
use evals_rag::Prompt;
use serde_json::{Value, json};

use crate::{Built, JudgePrompts, Registry, RegistryError, Resources, Untyped};
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
    let prompts = JudgePrompts::default();
    let names: BTreeSet<&str> = prompts.all().into_iter().map(Prompt::name).collect();
    assert_eq!(names.len(), prompts.all().len());
}

#[tokio::test]
async fn prompts_of_the_resources_replace_the_bundled_ones_and_change_the_version() {
    let own = |name: &str, text: &str| Prompt::new(name, text).unwrap();
    let prompts = JudgePrompts {
        rubric: own(
            "rubric.md.jinja",
            "Mine: <output-{{ nonce }}> {{ output }} / {{ rubric }}",
        ),
        g_eval: own(
            "g-eval.md.jinja",
            "Mine: <output-{{ nonce }}> {{ output }} / {{ criteria }}",
        ),
        judge: own(
            "judge.md.jinja",
            "Mine: <output-{{ nonce }}> {{ answer }} / {{ reference }}",
        ),
        ..JudgePrompts::default()
    };
    let verdict = r#"{"reason": "because", "id": "NONCE", "pass": true, "score": 3}"#;
    for (name, arguments, prompt, after) in [
        (
            "LLMJudge",
            json!({"rubric": "r"}),
            &prompts.rubric,
            "grey / r",
        ),
        (
            "GEval",
            json!({"criteria": "c", "evaluation_steps": ["s"]}),
            &prompts.g_eval,
            "grey / c",
        ),
        ("Judge", json!({}), &prompts.judge, "grey / blue"),
    ] {
        let model = Scripted::new([verdict]);
        let resources = Resources {
            models: Some(Arc::new(Only(Arc::clone(&model)))),
            prompts: Arc::new(prompts.clone()),
            ..Resources::default()
        };
        let Ok(Built::Case(evaluator)) =
            Registry::built_in().build(&spec(name, &arguments), &resources)
        else {
            panic!("`{name}` is refused");
        };
        let version = format!("prompt {}", &prompt.digest()[..12]);
        assert_eq!(evaluator.version(), Some(version.as_str()));
        let (case, output) = (sky(), json!("grey"));
        evaluator
            .evaluate(&Context::new(&case, &output))
            .await
            .unwrap();
        let asked = model.prompt();
        assert!(
            asked.starts_with("Mine: ") && asked.ends_with(after),
            "{asked}"
        );
    }
}
