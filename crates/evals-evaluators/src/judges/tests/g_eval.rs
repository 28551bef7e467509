//! Tests of `GEval`.

use evals::{Concern, FailureClass, Outcome};
use serde_json::{Value, json};

use super::scripted::{Scripted, nonce};
use super::{build, judge, refusal, sky};

fn arguments(others: &Value) -> Value {
    let mut arguments =
        json!({"criteria": "coherence", "evaluation_steps": ["read it", "score it"]});
    let others = others.as_object().unwrap().clone();
    arguments.as_object_mut().unwrap().extend(others);
    arguments
}

fn graded(score: &str) -> String {
    format!(r#"{{"reason": "coherent", "id": "NONCE", "score": {score}}}"#)
}

#[tokio::test]
async fn a_grade_is_a_score_with_its_reason() {
    for (others, score, name, value) in [
        (json!({}), "4", "GEval", 4.0),
        (json!({"evaluation_name": "flow"}), "5.0", "flow", 5.0),
        (json!({"score_range": [-3, 10]}), "\"-3\"", "GEval", -3.0),
    ] {
        let model = Scripted::new([graded(score).as_str()]);
        let outcomes = judge("GEval", &arguments(&others), &model, &json!("x")).await;
        assert_eq!(
            outcomes.unwrap(),
            [Outcome::score(name, value).because("coherent")]
        );
        let evaluator = build("GEval", &arguments(&others), &model).unwrap();
        assert_eq!(evaluator.concerns(&sky()), Some(vec![Concern::score(name)]));
    }
}

#[tokio::test]
async fn a_grade_outside_the_range_is_a_failure() {
    for (range, score) in [(json!([1, 5]), 6), (json!([1, 5]), 0), (json!([0, 10]), -1)] {
        let model = Scripted::new([graded(&score.to_string()).as_str()]);
        let arguments = arguments(&json!({"score_range": range}));
        let error = judge("GEval", &arguments, &model, &json!("x"))
            .await
            .unwrap_err();
        let range = range.to_string().replace(',', ", ");
        assert_eq!(
            error.get_ref().to_string(),
            format!(
                "the judge returned score {score}, outside the requested `score_range` {range}"
            )
        );
        assert_eq!(error.class(), Some(FailureClass::Content));
    }
}

#[tokio::test]
async fn a_grade_that_is_not_whole_is_asked_for_again() {
    let model = Scripted::new([graded("4.5").as_str(), graded("4").as_str()]);
    let outcomes = judge("GEval", &arguments(&json!({})), &model, &json!("x")).await;
    assert_eq!(outcomes.unwrap().len(), 1);
    let repair = &model.requests()[1].messages[2].content;
    assert!(repair.contains("a whole number `score`"), "{repair}");
    assert!(repair.contains("<a whole number from 1 to 5>"), "{repair}");
}

#[tokio::test]
async fn the_prompt_has_criteria_steps_range_and_input() {
    let model = Scripted::new([graded("7").as_str()]);
    let arguments = arguments(&json!({"include_input": true, "score_range": [0, 7]}));
    judge("GEval", &arguments, &model, &json!({"a": 1}))
        .await
        .unwrap();
    let prompt = model.prompt();
    let nonce = nonce(&prompt);
    for part in [
        "Criteria: coherence\n".to_owned(),
        "1. read it\n2. score it\n".to_owned(),
        "from 0, the worst, to 7, the best".to_owned(),
        format!("<input-{nonce}>\nWhat colour is the sky?\n</input-{nonce}>\n"),
        format!("<output-{nonce}>\n{{\"a\":1}}\n</output-{nonce}>\n"),
    ] {
        assert!(prompt.contains(&part), "{part}: {prompt}");
    }
    let request = &model.requests()[0];
    let schema = &request.schema.as_ref().unwrap().schema;
    assert_eq!(schema["properties"]["score"]["maximum"], 7);
}

/// The first message is that of pydantic-evals 2.62.0 for the same dataset file.
#[test]
fn arguments_are_checked_before_the_run() {
    let refused = |others: Value| refusal("GEval", &arguments(&others));
    assert_eq!(
        refused(json!({"score_range": [5, 1]})),
        "`GEval`: `score_range`: must satisfy min < max, got [5, 1]"
    );
    assert_eq!(
        refused(json!({"evaluation_steps": []})),
        "`GEval`: `evaluation_steps`: expected at least one step, found `[]`"
    );
    for range in [
        json!([1]),
        json!([1, 2, 3]),
        json!([1, 2.5]),
        json!("1-5"),
        json!([0, u64::MAX]),
    ] {
        let message = refused(json!({"score_range": range}));
        assert!(message.starts_with("`GEval`: `score_range"), "{message}");
    }
    assert_eq!(
        refused(json!({"evaluation_steps": "read"})),
        "`GEval`: `evaluation_steps`: expected a list, found the text \"read\""
    );
    assert_eq!(
        refusal("GEval", &json!({})),
        "`GEval` needs the arguments `criteria`, `evaluation_steps`"
    );
}
