//! The lines of a command that `docs/evaluators.md` explains, read by the evaluator.
#![cfg(unix)]

use std::sync::Arc;
use std::time::Duration;

use evals::{Case, Context, Evaluator, EvaluatorSpec, Outcome, Span, SpecArguments, TaskScope};
use evals_evaluators::{Built, Registry, Resources, Untyped};
use serde_json::{Value, json};
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../../docs/evaluators.md");

/// The section of `Exec`.
fn section() -> &'static str {
    let (_, rest) = PAGE.split_once("### Exec\n").unwrap();
    rest.split("\n## ").next().unwrap()
}

fn exec(folder: &TempDir, command: &str) -> Arc<dyn Evaluator<Untyped>> {
    let spec = EvaluatorSpec {
        name: "Exec".to_owned(),
        arguments: SpecArguments::Positional([json!(command)]),
    };
    let resources = Resources {
        folder: Some(folder.path().to_owned()),
        ..Resources::default()
    };
    let Ok(Built::Case(evaluator)) = Registry::built_in().build(&spec, &resources) else {
        panic!("`{command}` is refused");
    };
    evaluator
}

async fn judged(folder: &TempDir, command: &str) -> Result<Vec<Outcome>, String> {
    let evaluator = exec(folder, command);
    let case = Case::<Untyped>::new("a", Value::Null);
    let output = json!("three short words");
    let outcomes = evaluator.evaluate(&Context::new(&case, &output)).await;
    outcomes.map_err(|error| error.get_ref().to_string())
}

#[tokio::test]
async fn each_line_that_the_page_explains_has_the_outcomes_that_it_names() {
    let lines = section().split('`').filter(|it| it.starts_with("{\"id\""));
    let mut found = Vec::new();
    for line in lines {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("line"), format!("{line}\n")).unwrap();
        // The page writes `a` for the whole id.
        let copied = r#"read -r case; id=${case#*\"id\":\"}; sed "s/\"id\": \"a\"/\"id\": \"${id%%\"*}\"/" line"#;
        found.push(judged(&folder, copied).await);
    }
    assert_eq!(
        found,
        [
            Ok(vec![Outcome::assertion("Exec", true).because("12 words")]),
            Ok(vec![Outcome::score("Exec", 0.5)]),
            Ok(vec![Outcome::label("Exec", "polite")]),
            Ok(vec![Outcome::undefined("Exec", "no text")]),
            Ok(vec![
                Outcome::assertion("short", true).because("12 words"),
                Outcome::score("words", 12.0),
            ]),
            Err("no grammar is installed".to_owned()),
        ]
    );
}

#[tokio::test]
async fn the_request_of_the_page_is_what_a_command_gets() {
    let (_, rest) = section().split_once("```json\n").unwrap();
    let shown: Value = serde_json::from_str(rest.split("```").next().unwrap()).unwrap();

    let scope = TaskScope::default();
    scope.metric("input_tokens", 12.0);
    scope.attribute("documents", json!([{"id": "emma"}]));
    scope.span(Span::tool_call("search", &Value::Null, false));
    let recording = scope.take();
    let mut case = Case::<Untyped>::new("a", json!({"question": "Who wrote Emma?"}));
    case.expected = Some(json!("Jane Austen"));
    case.metadata = json!({"topic": "books"});
    let output = json!("Jane Austen");
    let context = Context {
        duration: Duration::from_millis(500),
        recording: &recording,
        ..Context::new(&case, &output)
    };
    let folder = TempDir::new().unwrap();
    let evaluator = exec(
        &folder,
        r#"read -r case; printf '%s\n' "$case" > sent; cat sent"#,
    );
    evaluator.evaluate(&context).await.unwrap_err();
    let sent = std::fs::read(folder.path().join("sent")).unwrap();
    let mut sent: Value = serde_json::from_slice(&sent).unwrap();
    let [written, random] = [&shown["id"], &sent["id"]].map(|id| id.as_str().unwrap().to_owned());
    assert_ne!(random, written);
    assert_eq!((random.len(), &random[..2]), (written.len(), "a~"));
    sent["id"] = written.into();
    assert_eq!(sent, shown);
}
