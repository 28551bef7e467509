//! `Not` around other evaluators.

use evals::{Case, Concern, Context, EvaluatorError, Outcome, SpecArguments};
use evals_evaluators::Untyped;
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::registered::{built, refused};

fn judged(evaluator: &Value, output: &Value) -> Result<Outcome, EvaluatorError> {
    let case = Case::<Untyped>::new("case", Value::Null);
    let evaluator = built("Not", json!({"evaluator": evaluator}));
    let outcomes = block_on(evaluator.evaluate(&Context::new(&case, output)))?;
    let [outcome] = outcomes.try_into().unwrap();
    Ok(outcome)
}

#[test]
fn an_assertion_is_turned_round_and_says_why() {
    let contains = json!({"Contains": "a"});
    assert_eq!(
        judged(&contains, &json!("banana")).unwrap(),
        Outcome::assertion("not Contains", false).because("`Contains` passed")
    );
    assert_eq!(
        judged(&contains, &json!("kiwi")).unwrap(),
        Outcome::assertion("not Contains", true)
            .because("Output string 'kiwi' does not contain expected string 'a'")
    );
    let twice = json!({"Not": {"evaluator": {"Equals": {"value": 1, "evaluation_name": "one"}}}});
    assert_eq!(
        judged(&twice, &json!(1)).unwrap(),
        Outcome::assertion("not not one", true).because("`one` passed")
    );
}

#[test]
fn what_is_undefined_stays_so() {
    assert_eq!(
        judged(&json!("ExactMatch"), &json!("kiwi")).unwrap(),
        Outcome::undefined("not ExactMatch", "the case has no expected output")
    );
}

#[test]
fn a_score_has_no_opposite() {
    let error = judged(&json!({"TokenF1": "kiwi"}), &json!("kiwi")).unwrap_err();
    assert_eq!(
        error.get_ref().to_string(),
        "`Not` turns assertions round, and `TokenF1` is a score"
    );
}

#[test]
fn it_names_what_it_concerns_and_how_it_is_written() {
    let evaluator = built("Not", json!({"evaluator": {"ExactMatch": "kiwi"}}));
    let case = Case::<Untyped>::new("case", Value::Null);
    assert_eq!(
        evaluator.concerns(&case),
        Some(vec![Concern::assertion("not ExactMatch")])
    );
    assert_eq!(evaluator.name(), "not ExactMatch");
    let spec = evaluator.spec().unwrap();
    assert_eq!(
        serde_json::to_value(spec).unwrap(),
        json!({"name": "Not", "arguments": {"evaluator": {"ExactMatch": "kiwi"}}})
    );
}

#[test]
fn what_is_no_evaluator_of_cases_is_refused() {
    let refused = |evaluator| refused("Not", SpecArguments::Positional([evaluator]));
    assert_eq!(
        refused(json!({"Contain": "a"})),
        "`Not`: no evaluator is called `Contain`; did you mean `Contains`?"
    );
    assert_eq!(
        refused(json!("Contains")),
        "`Not`: `Contains` needs the argument `value`"
    );
    assert_eq!(
        refused(json!("ConfusionMatrixEvaluator")),
        "`Not`: `ConfusionMatrixEvaluator` judges whole reports, where an evaluator of cases is needed"
    );
    assert!(refused(json!(5)).starts_with("`Not`: `5` is not an evaluator; one is `Name`, "));
}
