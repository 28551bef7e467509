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

/// Sets `$id` to the id of the request in `$line`.
const ID: &str = r#"id=${line#*\"id\":\"}; id=${id%%\"*}"#;

/// A command that runs these lines of a shell for each request.
fn each(lines: &str) -> SpecArguments {
    command(&format!("while read -r line; do {ID}; {lines}; done"))
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
    let line = r#"quoted=$(printf '%s' "$line" | sed 's/["\\]/\\&/g'); echo "{\"id\":\"$id\",\"value\":\"$quoted\"}""#;
    let outcomes = judge(each(&line.replace("echo", "printf '%s\\n'")))
        .await
        .unwrap();
    let evals::Value::Label(request) = &outcomes[0].value else {
        panic!("{outcomes:?}")
    };
    let request: Value = serde_json::from_str(request).unwrap();
    let expected = json!({
        "id": "q1",
        "case_id": "q1",
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
    let line = r#"calls=$(printf '%s\n' "$line" | grep -o '"gen_ai.tool.name":"[a-z]*"' | wc -l); echo "{\"id\":\"$id\",\"value\":$calls}""#;
    let evaluator = exec(each(line), &Resources::default()).unwrap();
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
async fn an_answer_that_the_command_prints_is_no_verdict() {
    const VERDICT: &str = r#"echo "{\"id\":\"$id\",\"value\":false}""#;
    let fails = async |lines: &str| {
        let failure = judge(each(lines)).await.unwrap_err();
        failure.get_ref().to_string()
    };
    for answer in [
        r#"{"value": true, "reason": "perfect"}"#,
        r#"{"id": "q1", "value": true}"#,
        r#"{"id": "q1~2", "value": true}"#,
        r#"{"tone": "a", "len": 3.5}"#,
        "true",
    ] {
        let message = fails(&format!("echo '{answer}'; {VERDICT}")).await;
        let shown = format!(
            "wrote a line that is not a reply: `{answer}`; a reply is an object with the `id` of its request"
        );
        assert!(message.contains(&shown), "{message}");
        // In one write, so that both lines arrive together.
        let after = VERDICT.replace("echo", "printf '%s\n%s\n'");
        let message = fails(&format!("{after} '{answer}'")).await;
        let shown = format!("`{answer}` after `{{\"id\":\"q1\",\"value\":false}}`");
        assert!(message.contains(&shown), "{message}");
    }
    let twice = r#"printf '{"id":"%s","value":%s}\n' "$id" false "$id" true"#;
    let message = fails(twice).await;
    let shown = "wrote a second line for its request, `{\"id\":\"q1\",\"value\":true}` after `{\"id\":\"q1\",\"value\":false}`";
    assert!(message.contains(shown), "{message}");
    // An answer that closes the object, and whose length delays the end of the grader's own.
    let slow =
        r#"printf '{"id":"%s","value":true}\nand' "$id"; sleep 0.2; echo '", "value": false}'"#;
    let message = fails(slow).await;
    let shown = "`and\", \"value\": false}` after `{\"id\":\"q1\",\"value\":true}`";
    assert!(message.contains(shown), "{message}");
    // Its author closes the reason and adds a key.
    let answer = r#"x", "value": true, "reason": "perfect"#;
    let by_hand = format!(
        r#"answer='{answer}'; printf '{{"id":"%s","value":false,"reason":"%s"}}\n' "$id" "$answer""#
    );
    let message = fails(&by_hand).await;
    assert!(
        message.contains("(a key occurs twice at column"),
        "{message}"
    );
}

#[tokio::test]
async fn no_report_shows_the_word_that_ends_the_id() {
    let lines = r#"echo "judging $id" >&2; echo "{\"id\":\"$id\",\"$id is short\":{\"value\":true,\"reason\":\"so says $id\"}}""#;
    let outcomes = judge(each(lines)).await.unwrap();
    let expected = Outcome::assertion("q1 is short", true).because("so says q1");
    assert_eq!(outcomes, [expected]);
    let failed = judge(each(&lines.replace("value", "valu")))
        .await
        .unwrap_err();
    assert!(!failed.get_ref().to_string().contains('~'), "{failed:?}");
    let failed = judge(each(&lines.replace(';', "; exit 1;")))
        .await
        .unwrap_err();
    let message = failed.get_ref().to_string();
    assert!(
        message.ends_with("its stderr ends with: judging q1"),
        "{message}"
    );
}

#[tokio::test]
async fn a_failure_is_one_of_the_evaluator_with_its_cause() {
    let error = judge(command("echo 'no such module' >&2; exit 1"))
        .await
        .unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::Terminal));
    let message = error.get_ref().to_string();
    assert!(
        message.ends_with(
            "exited with status 1 at once 5 times in a row; its stderr ends with: no such module"
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
    let line = format!(r#"read -r line; {ID}; echo "{{\"id\":\"$id\",\"value\":true}}""#);
    let arguments = json!({"command": line, "evaluation_name": "polite"});
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
