//! Regular expressions match what they match in Python.
//!
//! `tests/golden/patterns.py` makes the rows by running it.

use std::sync::Arc;

use evals::{Case, Context, Evaluator, EvaluatorSpec, SpecArguments, Value as Verdict};
use evals_evaluators::{Built, Registry, Resources, Untyped};
use futures::executor::block_on;
use serde_json::{Value, json};

const GOLDEN: &str = include_str!("../golden/patterns.json");

fn built(arguments: &Value) -> Result<Arc<dyn Evaluator<Untyped>>, String> {
    let spec = EvaluatorSpec {
        name: "Regex".to_owned(),
        arguments: SpecArguments::Named(arguments.as_object().unwrap().clone()),
    };
    match Registry::built_in().build(&spec, &Resources::default()) {
        Ok(Built::Case(evaluator)) => Ok(evaluator),
        Ok(Built::Report(_)) => panic!("it judges reports"),
        Err(error) => Err(error.to_string()),
    }
}

fn matches(arguments: &Value, text: &str) -> Option<bool> {
    let evaluator = built(arguments).ok()?;
    let case = Case::<Untyped>::new("case", Value::Null);
    let output = json!(text);
    let outcomes = block_on(evaluator.evaluate(&Context::new(&case, &output))).unwrap();
    match outcomes[0].value {
        Verdict::Assertion(passed) => Some(passed),
        ref other => panic!("{other:?} is no assertion"),
    }
}

#[test]
fn patterns_match_what_they_match_in_python() {
    let rows: Vec<(String, String, String, Option<[bool; 3]>)> =
        serde_json::from_str(GOLDEN).unwrap();
    assert!(rows.len() > 100);
    let mut wrong = Vec::new();
    for (pattern, flags, text, expected) in rows {
        for (place, mode) in ["search", "match", "full"].into_iter().enumerate() {
            let arguments = json!({"pattern": pattern, "flags": flags, "mode": mode});
            let found = matches(&arguments, &text);
            if found != expected.map(|expected| expected[place]) {
                wrong.push(format!("{arguments} in {text:?}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_pattern_that_is_no_regular_expression_is_refused() {
    let refused = |arguments| built(&arguments).unwrap_err();
    let error = refused(json!({"pattern": "("}));
    assert!(
        error.starts_with("`Regex`: `(` is no regular expression: "),
        "{error}"
    );
    assert_eq!(
        refused(json!({"pattern": "a", "flags": "g"})),
        "`Regex`: `g` is no flag; there are `i`, `m`, `s` and `x`"
    );
    assert_eq!(
        refused(json!({"pattern": "a", "mode": "whole"})),
        "`Regex`: `mode` must be `search`, `match` or `full`, not `\"whole\"`"
    );
}

#[test]
fn a_pattern_that_takes_too_many_steps_fails_the_evaluator() {
    let evaluator = built(&json!({"pattern": "(a|a)*(?=b)c"})).unwrap();
    let case = Case::<Untyped>::new("case", Value::Null);
    let output = json!("a".repeat(40));
    let error = block_on(evaluator.evaluate(&Context::new(&case, &output))).unwrap_err();
    let message = error.get_ref().to_string();
    assert!(message.contains("takes too many steps"), "{message}");
}
