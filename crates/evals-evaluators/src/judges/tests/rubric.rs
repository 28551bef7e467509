//! Tests of `LLMJudge`.

use evals::{Concern, Context, FailureClass, Outcome};
use evals_models::Failure;
use serde_json::{Value, json};

use super::scripted::{Scripted, nonce};
use super::{build, judge, refusal, sky};
use crate::{Built, Registry, Resources};

const PASS: &str = r#"{"reason": "because", "id": "NONCE", "pass": true, "score": 0.9}"#;

async fn outcomes(arguments: Value) -> Vec<Outcome> {
    let model = Scripted::new([PASS]);
    let arguments = with_rubric(arguments);
    judge("LLMJudge", &arguments, &model, &json!("blue"))
        .await
        .unwrap()
}

fn with_rubric(mut arguments: Value) -> Value {
    arguments["rubric"] = json!("names a colour");
    arguments
}

/// The prompt of a judge with these arguments.
async fn prompt(arguments: Value, output: Value) -> String {
    let model = Scripted::new([PASS]);
    judge("LLMJudge", &with_rubric(arguments), &model, &output)
        .await
        .unwrap();
    model.prompt()
}

/// Made by `tests/golden/make_reports.py`, with the verdict of [`PASS`].
const GOLDEN: &str = include_str!("../../../tests/golden/judges.json");

#[tokio::test]
async fn outcomes_are_those_of_pydantic_evals() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    for case in golden["golden"].as_array().unwrap() {
        let outcomes = outcomes(case["arguments"].clone()).await;
        let ours = outcomes.into_iter().map(|outcome| {
            let value = match outcome.value {
                evals::Value::Assertion(passed) => json!(passed),
                evals::Value::Score(score) => json!(score),
                other => panic!("{other:?}"),
            };
            json!({"key": outcome.name, "value": value, "reason": outcome.reason})
        });
        let mut ours: Vec<Value> = ours.collect();
        // They lose a score that has the name of the assertion.
        if ours.first().is_some_and(|first| first["key"] == "x_score") {
            ours.remove(0);
        }
        assert_eq!(json!(ours), case["outcomes"], "{}", case["arguments"]);
    }
}

#[tokio::test]
async fn outcomes_have_the_names_that_the_arguments_give() {
    let score = |name: &str| Outcome::score(name, 0.9);
    let pass = |name: &str| Outcome::assertion(name, true);
    let reason = "because";
    for (arguments, expected) in [
        (json!({}), vec![pass("LLMJudge").because(reason)]),
        (json!({"assertion": {}}), vec![pass("LLMJudge")]),
        (
            json!({"score": {}, "assertion": false}),
            vec![score("LLMJudge")],
        ),
        (
            json!({"score": {"include_reason": true}}),
            vec![
                score("LLMJudge_score").because(reason),
                pass("LLMJudge_pass").because(reason),
            ],
        ),
        (
            json!({"score": {"evaluation_name": "blueness"}, "assertion": {"evaluation_name": ""}}),
            vec![score("blueness"), pass("LLMJudge_pass")],
        ),
        (
            json!({"score": {"evaluation_name": "x"}, "assertion": {"evaluation_name": "x"}}),
            vec![score("x_score"), pass("x")],
        ),
    ] {
        assert_eq!(outcomes(arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_judge_without_outcomes_asks_nobody() {
    let model = Scripted::new([PASS]);
    let arguments = with_rubric(json!({"assertion": false}));
    let outcomes = judge("LLMJudge", &arguments, &model, &json!("blue")).await;
    assert_eq!(outcomes.unwrap(), []);
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn failures_concern_the_outcomes_that_would_have_been() {
    let model = Scripted::new([]);
    let arguments = with_rubric(json!({"score": {}}));
    let evaluator = build("LLMJudge", &arguments, &model).unwrap();
    let concerns = evaluator.concerns(&sky()).unwrap();
    let expected = [
        Concern::score("LLMJudge_score"),
        Concern::assertion("LLMJudge_pass"),
    ];
    assert_eq!(concerns, expected);
}

#[tokio::test]
async fn the_judge_sees_only_what_it_may() {
    let shows = |prompt: &str, tag: &str, text: &str| {
        let nonce = nonce(prompt);
        prompt.contains(&format!("<{tag}-{nonce}>\n{text}\n</{tag}-{nonce}>\n"))
    };
    let input = json!({"include_input": true});
    let expected = json!({"include_expected_output": true});
    let both = json!({"include_input": true, "include_expected_output": true});
    for (arguments, sees_input, sees_expected) in [
        (json!({}), false, false),
        (input, true, false),
        (expected, false, true),
        (both, true, true),
    ] {
        let prompt = prompt(arguments, json!("azure")).await;
        assert!(shows(&prompt, "output", "azure"), "{prompt}");
        assert!(prompt.contains("\nnames a colour\n"), "{prompt}");
        assert_eq!(
            shows(&prompt, "input", "What colour is the sky?"),
            sees_input
        );
        assert_eq!(shows(&prompt, "expected-output", "blue"), sees_expected);
        let mentioned = [("<input", sees_input), ("<expected", sees_expected)];
        for (tag, sees) in mentioned {
            assert_eq!(prompt.contains(tag), sees, "{prompt}");
        }
    }
}

#[tokio::test]
async fn other_values_than_texts_are_compact_json() {
    for (output, written) in [
        (
            json!({"a": [1, 2.5], "b": null}),
            r#"{"a":[1,2.5],"b":null}"#,
        ),
        (json!(["x", "y"]), r#"["x","y"]"#),
        (json!(null), "null"),
        (json!(" as it is \n"), " as it is \n"),
    ] {
        let prompt = prompt(json!({}), output).await;
        let block = format!(">\n{written}\n</output-");
        assert!(prompt.contains(&block), "{prompt}");
    }
}

#[tokio::test]
async fn a_missing_input_or_reference_is_left_out() {
    let model = Scripted::new([PASS]);
    let arguments = with_rubric(json!({"include_input": true, "include_expected_output": true}));
    let evaluator = build("LLMJudge", &arguments, &model).unwrap();
    let mut case = sky();
    (case.input, case.expected) = (Value::Null, None);
    let output = json!("blue");
    evaluator
        .evaluate(&Context::new(&case, &output))
        .await
        .unwrap();
    let prompt = model.prompt();
    assert!(!prompt.contains("<input"), "{prompt}");
    assert!(!prompt.contains("<expected"), "{prompt}");
}

#[tokio::test]
async fn the_model_is_asked_for_a_reason_before_the_verdict() {
    let model = Scripted::new([PASS]);
    let evaluator = build("LLMJudge", &with_rubric(json!({})), &model).unwrap();
    let (case, output) = (sky(), json!("blue"));
    let mut context = Context::new(&case, &output);
    context.repeat = 3;
    evaluator.evaluate(&context).await.unwrap();
    let request = &model.requests()[0];
    assert_eq!(request.repeat, 3);
    let schema = &request.schema.as_ref().unwrap().schema;
    let members: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["reason", "id", "pass", "score"]);
    assert_eq!(schema["required"], json!(members));
}

#[tokio::test]
async fn calls_count_as_those_of_a_judge() {
    let model = Scripted::new(["?", PASS]);
    let evaluator = build("LLMJudge", &with_rubric(json!({})), &model).unwrap();
    let (case, output) = (sky(), json!("blue"));
    let context = Context::new(&case, &output);
    evaluator.evaluate(&context).await.unwrap();
    let recording = context.scope.take();
    assert!((recording.metrics["judge input tokens"] - 200.0).abs() < f64::EPSILON);
    assert!((recording.metrics["judge output tokens"] - 20.0).abs() < f64::EPSILON);
    let stages: Vec<&str> = recording
        .timings
        .iter()
        .map(|it| it.stage.as_str())
        .collect();
    assert_eq!(stages, ["judge", "judge"]);
}

#[tokio::test]
async fn an_unreadable_reply_is_corrected_once() {
    let model = Scripted::new([r#"{"pass": "maybe"}"#, PASS]);
    let arguments = with_rubric(json!({}));
    let outcomes = judge("LLMJudge", &arguments, &model, &json!("blue")).await;
    assert_eq!(outcomes.unwrap().len(), 1);
    let messages = &model.requests()[1].messages;
    assert_eq!(messages[1].content, r#"{"pass": "maybe"}"#);
    let complaint = "That is not a verdict that can be read: it has no JSON object with a text `reason`, a boolean `pass` and, directly after it, a number `score`.";
    assert!(
        messages[2].content.starts_with(complaint),
        "{}",
        messages[2].content
    );
    assert!(messages[2].content.contains(nonce(&model.prompt())));

    let model = Scripted::new(["?", "!"]);
    let error = judge("LLMJudge", &arguments, &model, &json!("blue"))
        .await
        .unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::Content));
    assert_eq!(
        error.get_ref().to_string(),
        "`test:scripted` gave no readable verdict, not even when asked again"
    );
}

#[tokio::test]
async fn failures_keep_their_class() {
    for (failure, class) in [
        (Failure::Transient, FailureClass::Transient),
        (Failure::Terminal, FailureClass::Terminal),
    ] {
        let model = Scripted::then_failing([], failure);
        let arguments = with_rubric(json!({}));
        let error = judge("LLMJudge", &arguments, &model, &json!("blue"))
            .await
            .unwrap_err();
        assert_eq!(error.class(), Some(class));
    }
}

#[tokio::test]
async fn without_models_a_judge_is_built_and_fails_when_asked() {
    let spec = super::spec("LLMJudge", &with_rubric(json!({})));
    let built = Registry::built_in().build(&spec, &Resources::default());
    let Built::Case(evaluator) = built.unwrap() else {
        panic!("it judges cases")
    };
    let (case, output) = (sky(), json!("blue"));
    let error = evaluator
        .evaluate(&Context::new(&case, &output))
        .await
        .unwrap_err();
    assert_eq!(error.class(), Some(FailureClass::Terminal));
}

#[test]
fn scores_are_numbers_and_follow_the_verdict() {
    use crate::judges::verdict::RubricVerdict;
    let read =
        |object: &str| RubricVerdict::parse(object).map(|verdict| (verdict.pass, verdict.score));
    for (object, expected) in [
        (
            r#"{"reason": "", "pass": "yes", "score": " 0.5 "}"#,
            Some((true, 0.5)),
        ),
        (
            r#"{"reason": "", "pass": false, "score": 1e2,}"#,
            Some((false, 100.0)),
        ),
        (r#"{"score": 1, "reason": "", "pass": false}"#, None),
        (r#"{"pass": false, "reason": "", "score": 1}"#, None),
        (r#"{"reason": "", "pass": false, "score": "NaN"}"#, None),
        (r#"{"reason": "", "pass": false, "score": "inf"}"#, None),
        (r#"{"reason": "", "pass": false, "score": true}"#, None),
        (
            r#"{"reason": "", "pass": false, "score": 1, "score": 1}"#,
            None,
        ),
        (r#"{"reason": "", "pass": false}"#, None),
    ] {
        assert_eq!(read(object), expected, "{object}");
    }
}

#[test]
fn a_rubric_may_be_a_list_of_lines() {
    let model = Scripted::new([]);
    let arguments = json!({"rubric": ["is blue", 5]});
    let evaluator = build("LLMJudge", &arguments, &model).unwrap();
    let spec = evaluator.spec().unwrap();
    assert_eq!(
        serde_json::to_value(spec.arguments).unwrap(),
        json!([["is blue", 5]])
    );
}

#[test]
fn credentials_in_the_settings_of_a_model_reach_the_model_and_no_report() {
    let settings = json!({"temperature": 0, "extra_body": {"api_key": "sk-1", "headers": {"Authorization": "Bearer sk-2"}}});
    let judge = json!({"rubric": "x", "model_settings": settings});
    for (name, arguments, place) in [
        ("Judge", json!({"model_settings": settings}), ""),
        ("LLMJudge", judge.clone(), ""),
        (
            "GEval",
            json!({"criteria": "x", "evaluation_steps": ["y"], "model_settings": settings}),
            "",
        ),
        (
            "Not",
            json!({"evaluator": {"LLMJudge": judge}}),
            "/evaluator/LLMJudge",
        ),
        (
            "Not",
            json!({"evaluator": {"name": "Not", "arguments": {"evaluator": {"LLMJudge": judge}}}}),
            "/evaluator/arguments/evaluator/LLMJudge",
        ),
    ] {
        let model = Scripted::new([]);
        let evaluator = build(name, &arguments, &model).unwrap();
        let stored = serde_json::to_value(evaluator.spec().unwrap()).unwrap();
        assert_eq!(
            stored.pointer(&format!("/arguments{place}/model_settings")),
            Some(
                &json!({"temperature": 0, "extra_body": {"api_key": "[redacted]", "headers": {"Authorization": "[redacted]"}}})
            ),
            "{stored}"
        );
        assert_eq!(Value::Object(model.wanted()[0].settings.clone()), settings);
    }
}

#[test]
fn arguments_are_checked_before_the_run() {
    let refused = |arguments: Value| refusal("LLMJudge", &with_rubric(arguments));
    assert_eq!(
        refused(json!({"include_input": "yes"})),
        "`LLMJudge`: `include_input`: expected `true` or `false`, found the text \"yes\""
    );
    for score in [
        json!(true),
        json!(null),
        json!({"name": "x"}),
        json!({"include_reason": 1}),
    ] {
        assert_eq!(
            refused(json!({"score": score})),
            format!(
                "`LLMJudge`: `score`: expected `false`, or an object with the text `evaluation_name` and the flag `include_reason`, found `{score}`"
            )
        );
    }
    assert_eq!(
        refused(json!({"model": "missing"})),
        "`LLMJudge`: no provider is called `missing`"
    );
    assert_eq!(
        refused(json!({"model": 5})),
        "`LLMJudge`: `model`: expected a text, found `5`"
    );
    assert_eq!(
        refusal("LLMJudge", &json!({"rubric": null})),
        "`LLMJudge`: `rubric`: expected a text, found `null`"
    );
    assert_eq!(
        refusal("LLMJudge", &json!({})),
        "`LLMJudge` needs the argument `rubric`"
    );
}
