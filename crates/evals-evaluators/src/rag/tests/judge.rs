//! Tests of `Judge`.

use super::*;
use crate::Registry;

async fn overlap(expected: Value, output: Value) -> Result<Vec<Outcome>, String> {
    let case = case(expected, Value::Null);
    judged(
        "Judge",
        positional(json!("embedded:overlap")),
        &case,
        output,
    )
    .await
}

#[tokio::test]
async fn an_answer_is_compared_with_the_reference() {
    let passed = |passed, reason: &str| {
        Ok(vec![
            Outcome::assertion("equivalent", passed).because(reason),
        ])
    };
    for (expected, output, outcome) in [
        (
            json!("Paris"),
            json!("Paris"),
            passed(true, "100 % of the reference's words (50 % needed)"),
        ),
        (
            json!({"answer": "Paris"}),
            json!({"answer": "Rome"}),
            passed(false, "0 % of the reference's words (50 % needed)"),
        ),
        (
            json!(450),
            json!({"answer": 450}),
            passed(true, "100 % of the reference's words (50 % needed)"),
        ),
        (
            json!("Paris"),
            json!({"answer": "Paris [1].", "documents": ["a"]}),
            passed(true, "100 % of the reference's words (50 % needed)"),
        ),
        (
            json!("Paris"),
            json!("I don't know."),
            passed(false, "refused an answerable question"),
        ),
        (
            json!("Paris"),
            json!({"refused": true}),
            passed(false, "refused an answerable question"),
        ),
        (
            json!({"answerable": false}),
            json!({"refused": true, "documents": ["a"]}),
            passed(true, "refused an unanswerable question"),
        ),
        (
            json!({"answerable": false}),
            json!("I don't know."),
            passed(true, "refused an unanswerable question"),
        ),
        (
            json!(null),
            json!("Paris"),
            Ok(vec![Outcome::undefined(
                "equivalent",
                "no reference answer",
            )]),
        ),
        (
            json!("Paris"),
            json!(null),
            Ok(vec![Outcome::undefined(
                "equivalent",
                Missing::Answer.reason(),
            )]),
        ),
    ] {
        assert_eq!(
            overlap(expected.clone(), output.clone()).await,
            outcome,
            "{expected} {output}"
        );
    }
}

#[test]
fn a_judge_of_words_asks_for_no_model() {
    let spec = |arguments| EvaluatorSpec {
        name: "Judge".to_owned(),
        arguments,
    };
    let registry = Registry::built_in();
    let overlap = spec(positional(json!("embedded:overlap")));
    assert_eq!(registry.wanted_models([&overlap]), []);
    let default = spec(SpecArguments::None);
    assert_eq!(registry.wanted_models([&default]).len(), 1);
    let built = build("Judge", SpecArguments::None).unwrap();
    let digest = evals_rag::Prompt::judge().digest()[..12].to_owned();
    assert_eq!(built.version(), Some(format!("prompt {digest}").as_str()));
}
