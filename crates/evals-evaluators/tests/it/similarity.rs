//! The evaluators that compare a text with a reference.

use evals::{Case, Concern, Context, Outcome, SpecArguments};
use evals_evaluators::Untyped;
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::registered::{built, refused};

/// The outcome of an evaluator for an output and an expected output.
fn outcome(name: &str, arguments: Value, output: &Value, expected: Value) -> Outcome {
    let evaluator = built(name, arguments);
    let case = Case::<Untyped>::new("case", Value::Null).expecting(expected);
    let outcomes = block_on(evaluator.evaluate(&Context::new(&case, output))).unwrap();
    let [outcome] = outcomes.try_into().unwrap();
    outcome
}

fn compared(name: &str, output: &str, expected: Value) -> Outcome {
    outcome(name, json!({}), &json!(output), expected)
}

#[test]
fn each_evaluator_compares_with_the_expected_output() {
    let answer = "It has 1,200 seats.";
    let reference = || json!("the 1200 seats");
    assert_eq!(
        compared("ExactMatch", "The Seats!", json!("seats")),
        Outcome::assertion("ExactMatch", true)
    );
    assert_eq!(
        compared("ExactMatch", answer, reference()),
        Outcome::assertion("ExactMatch", false)
    );
    // Two of four words, and all two of the reference: SQuAD drops the article and the comma.
    assert_eq!(
        compared("TokenF1", answer, reference()),
        Outcome::score("TokenF1", 2.0 * 0.5 / 1.5)
    );
    // `1` and `200` are two words here; `seats` is the longest common subsequence.
    assert_eq!(
        compared("RougeL", answer, reference()),
        Outcome::score("RougeL", 0.25)
    );
    assert_eq!(
        compared("NumberMatch", answer, reference()),
        Outcome::assertion("NumberMatch", true)
    );
    assert_eq!(
        compared("NumberMatch", "1300", reference()),
        Outcome::assertion("NumberMatch", false)
    );
    // Three changes among seven letters.
    assert_eq!(
        compared("Levenshtein", "kitten", json!("sitting")),
        Outcome::score("Levenshtein", 1.0 - 3.0 / 7.0)
    );
}

#[test]
fn the_closest_of_several_references_counts() {
    let references = json!(["Paris", "the city of Paris", 5]);
    assert_eq!(
        compared("ExactMatch", "city of paris", references.clone()),
        Outcome::assertion("ExactMatch", true)
    );
    assert_eq!(
        compared("Levenshtein", "Pariss", references.clone()),
        Outcome::score("Levenshtein", 1.0 - 1.0 / 6.0)
    );
    assert_eq!(
        compared("NumberMatch", "5", references),
        Outcome::assertion("NumberMatch", true)
    );
}

#[test]
fn an_argument_replaces_the_expected_output_and_renames_the_outcome() {
    let arguments = json!({"reference": "Rome", "evaluation_name": "capital"});
    let found = outcome("ExactMatch", arguments, &json!("rome"), json!("Paris"));
    assert_eq!(found, Outcome::assertion("capital", true));
    let arguments = json!({"case_sensitive": false});
    let found = outcome("Levenshtein", arguments, &json!("ROME"), json!("Rome"));
    assert_eq!(found, Outcome::score("Levenshtein", 1.0));
}

#[test]
fn what_cannot_be_compared_is_undefined() {
    let undefined = |name: &str, reason: &str| Outcome::undefined(name, reason);
    assert_eq!(
        compared("TokenF1", "x", Value::Null),
        undefined("TokenF1", "the case has no expected output")
    );
    assert_eq!(
        compared("TokenF1", "x", json!({"a": 1})),
        undefined("TokenF1", "the expected output is not a text")
    );
    assert_eq!(
        compared("RougeL", "x", json!("漢字")),
        undefined("RougeL", "the reference has no words of ASCII letters")
    );
    assert_eq!(
        compared("NumberMatch", "x", json!("none")),
        undefined("NumberMatch", "the reference has no number")
    );
    let found = outcome("ExactMatch", json!({}), &json!(["x"]), Value::Null);
    assert_eq!(
        found,
        undefined("ExactMatch", "the case has no expected output")
    );
}

#[test]
fn an_output_that_is_no_text_fails_the_evaluator() {
    let evaluator = built("TokenF1", json!({}));
    let case = Case::<Untyped>::new("case", Value::Null).expecting(json!("x"));
    for (output, found) in [
        (Value::Null, "NoneType"),
        (json!(true), "bool"),
        (json!(["x"]), "list"),
        (json!({"x": 1}), "dict"),
    ] {
        let error = block_on(evaluator.evaluate(&Context::new(&case, &output))).unwrap_err();
        let expected = format!("the output is of type {found}, not a text");
        assert_eq!(error.get_ref().to_string(), expected);
    }
}

#[test]
fn a_failed_task_counts_only_where_there_is_something_to_compare_with() {
    let with = |expected: Value| Case::<Untyped>::new("case", Value::Null).expecting(expected);
    let evaluator = built("NumberMatch", json!({}));
    let concern = vec![Concern::assertion("NumberMatch")];
    assert_eq!(evaluator.concerns(&with(json!("5 seats"))), Some(concern));
    assert_eq!(evaluator.concerns(&with(json!("seats"))), Some(Vec::new()));
    assert_eq!(evaluator.concerns(&with(Value::Null)), Some(Vec::new()));
}

#[test]
fn texts_too_long_to_compare_fail_the_evaluator() {
    let evaluator = built("Levenshtein", json!({}));
    let case = Case::<Untyped>::new("case", Value::Null).expecting(json!("x".repeat(400_000)));
    let output = json!("y".repeat(400_000));
    let error = block_on(evaluator.evaluate(&Context::new(&case, &output))).unwrap_err();
    assert_eq!(
        error.get_ref().to_string(),
        "the output of 400000 letters is too long to compare with a reference of 400000"
    );
}

#[test]
fn levenshtein_has_the_bits_of_strsim() {
    let words = [
        "Paris",
        "is",
        "Zürich",
        "the ",
        "",
        "東京",
        "capital of France",
        "e\u{301}",
    ];
    let texts: Vec<String> = (0..40_usize)
        .map(|start| {
            let length = start * start % 23;
            (0..length)
                .map(|at| words[(start + at * (start + 3)) % words.len()])
                .collect()
        })
        .collect();
    for output in &texts {
        for reference in &texts {
            let expected = strsim::normalized_levenshtein(output, reference);
            let found = compared("Levenshtein", output, json!(reference));
            assert_eq!(found, Outcome::score("Levenshtein", expected));
        }
    }
}

#[test]
fn a_reference_that_is_no_text_is_refused() {
    assert_eq!(
        refused("RougeL", SpecArguments::Positional([json!({"a": 1})])),
        "`RougeL`: `reference`: expected a text or a list of texts, found `{\"a\":1}`"
    );
}
