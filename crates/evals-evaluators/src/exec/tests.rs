//! The evaluator with commands that are shell scripts.

use std::sync::Arc;
use std::time::Duration;

use evals::{
    Case, Context, Dataset, Evaluator, EvaluatorError, EvaluatorSpec, Experiment, FailureClass,
    Outcome, SpecArguments,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Built, Registry, RegistryError, Resources, Untyped};

fn exec(
    arguments: SpecArguments,
    resources: &Resources,
) -> Result<Arc<dyn Evaluator<Untyped>>, RegistryError> {
    let spec = EvaluatorSpec {
        name: "Exec".to_owned(),
        arguments,
    };
    match Registry::built_in().build(&spec, resources)? {
        Built::Case(evaluator) => Ok(evaluator),
        Built::Report(_) => panic!("`Exec` judges cases"),
    }
}

fn command(line: &str) -> SpecArguments {
    SpecArguments::Positional([json!(line)])
}

async fn judge(arguments: SpecArguments) -> Result<Vec<Outcome>, EvaluatorError> {
    let evaluator = exec(arguments, &Resources::default()).unwrap();
    let case = Case::new("q1", json!({"question": "Why?"})).expecting(json!("because"));
    let output = json!("just so");
    evaluator.evaluate(&Context::new(&case, &output)).await
}

#[tokio::test]
async fn a_command_is_sent_the_case_and_its_output() {
    // The verdict is the request itself, as a label.
    let line =
        r#"read -r line; printf '%s' "$line" | sed 's/["\\]/\\&/g; s/^/{"value": "/; s/$/"}/'"#;
    let outcomes = judge(command(line)).await.unwrap();
    let evals::Value::Label(request) = &outcomes[0].value else {
        panic!("{outcomes:?}")
    };
    let request: Value = serde_json::from_str(request).unwrap();
    let expected = json!({
        "id": "q1",
        "inputs": {"question": "Why?"},
        "output": "just so",
        "expected_output": "because",
        "metadata": null,
        "duration": 0.0,
        "metrics": {},
        "attributes": {},
        "spans": null,
    });
    assert_eq!(request, expected);
    assert_eq!(outcomes[0].name, "Exec");
}

#[tokio::test]
async fn a_command_sees_the_steps_of_the_task() {
    // It counts the calls of tools, whose names stand in their attributes.
    let line =
        r#"read -r line; printf '%s\n' "$line" | grep -o '"gen_ai.tool.name":"[a-z]*"' | wc -l"#;
    let evaluator = exec(command(line), &Resources::default()).unwrap();
    let scope = evals::TaskScope::default();
    for tool in ["search", "search", "book"] {
        scope.span(evals::Span::tool_call(tool, &json!({}), false));
    }
    let recording = scope.take();
    let case = Case::new("q1", json!("Why?"));
    let output = json!(null);
    let context = Context {
        recording: &recording,
        ..Context::new(&case, &output)
    };
    let outcomes = evaluator.evaluate(&context).await.unwrap();
    assert_eq!(outcomes, [Outcome::score("Exec", 3.0)]);
}

#[tokio::test]
async fn named_outcomes_need_no_id() {
    let line = r#"read -r line; echo '{"tone": "a", "len": 3.5}'"#;
    let outcomes = judge(command(line)).await.unwrap();
    let expected = [Outcome::label("tone", "a"), Outcome::score("len", 3.5)];
    assert_eq!(outcomes, expected);

    let greeting = r#"echo '{"status": "ready"}'; read -r line; echo true"#;
    let error = judge(command(greeting)).await.unwrap_err();
    let message = error.get_ref().to_string();
    assert!(
        message.contains("`{\"status\": \"ready\"}`; a reply is `true`, `0.5`,"),
        "{message}"
    );
}

#[tokio::test]
async fn a_failure_is_one_of_the_evaluator_with_its_cause() {
    let error = judge(command("echo 'no such module' >&2; exit 1"))
        .await
        .unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::Transient));
    let message = error.get_ref().to_string();
    assert!(
        message.ends_with(
            "exited with status 1 before its first reply; its stderr ends with: no such module"
        ),
        "{message}"
    );
    let missing = judge(command("evaluations-no-such-command"))
        .await
        .unwrap_err();
    assert_eq!(missing.class(), Some(FailureClass::Terminal));
}

#[tokio::test]
async fn arguments_name_the_outcome_and_limit_the_time() {
    let arguments = json!({"command": "read -r line; echo true", "evaluation_name": "polite"});
    let named = SpecArguments::Named(arguments.as_object().unwrap().clone());
    let outcomes = judge(named.clone()).await.unwrap();
    assert_eq!(outcomes, [Outcome::assertion("polite", true)]);
    let evaluator = exec(named.clone(), &Resources::default()).unwrap();
    assert_eq!(evaluator.spec().unwrap().arguments, named);

    let arguments = json!({"command": "sleep 60", "timeout": 0.1});
    let late = SpecArguments::Named(arguments.as_object().unwrap().clone());
    let message = judge(late).await.unwrap_err().get_ref().to_string();
    assert!(message.contains("gave no reply within 0.1 s"), "{message}");

    for wrong in [
        json!({"command": 5}),
        json!({"command": " "}),
        json!({"command": "cat", "timeout": 0}),
    ] {
        let wrong = SpecArguments::Named(wrong.as_object().unwrap().clone());
        let refused = exec(wrong, &Resources::default()).unwrap_err();
        assert!(
            matches!(refused, RegistryError::Refused { .. }),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn all_cases_and_evaluators_of_a_run_share_the_processes() {
    let folder = TempDir::new().unwrap();
    let resources = Resources {
        folder: Some(folder.path().to_owned()),
        ..Resources::default()
    };
    let line = r#"echo $$ >> started; while read -r line; do id=${line#*\"id\":\"}; id=${id%%\"*}; echo "{\"id\":\"$id\",\"value\":true}"; done"#;
    let mut cases = Vec::new();
    for number in 0..30 {
        let mut case = Case::new(format!("q{number}"), json!(number));
        case.evaluators
            .push(exec(command(line), &resources).unwrap());
        cases.push(case);
    }
    let dataset = Dataset::new("shared", cases).unwrap();
    let dataset = dataset.with_evaluators([exec(command(line), &resources).unwrap()]);
    let report = Experiment::new(dataset, |case: Arc<Case<Untyped>>, _| async move {
        Ok(case.input.clone())
    })
    .run()
    .await;
    for case in &report.cases {
        assert_eq!(case.evaluator_failures, []);
        assert_eq!(case.outcomes.len(), 2);
    }
    let started = std::fs::read_to_string(folder.path().join("started")).unwrap();
    assert!(started.lines().count() <= 4, "{started}");
    let closing = tokio::time::timeout(Duration::from_secs(30), resources.workers.close());
    closing.await.unwrap();
}
