//! Regular expressions match what they match in Python.
//!
//! `tests/golden/patterns.py` makes the rows by running it.

use evals::{Case, Context, SpecArguments, Value as Verdict};
use evals_evaluators::{Built, Untyped};
use futures::executor::block_on;
use serde_json::{Map, Value, json};

use crate::registered::{build, built, refused};

/// Pattern, flags, text, and whether `re.search`, `re.match` and `re.fullmatch` find it, unless Python refuses the pattern.
type Row = (String, String, String, Option<[bool; 3]>);

const GOLDEN: &str = include_str!("../golden/patterns.json");

/// Whether `Regex` finds a match; `None` if it refuses the pattern.
fn matches(arguments: Map<String, Value>, text: &str) -> Option<bool> {
    let Ok(Built::Case(evaluator)) = build("Regex", SpecArguments::Named(arguments)) else {
        return None;
    };
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
    let rows: Vec<Row> = serde_json::from_str(GOLDEN).unwrap();
    assert!(rows.len() > 100);
    let mut wrong = Vec::new();
    for (pattern, flags, text, expected) in rows {
        for (place, mode) in ["search", "match", "full"].into_iter().enumerate() {
            let arguments = [("pattern", &*pattern), ("flags", &flags), ("mode", mode)];
            let arguments = arguments.map(|(name, value)| (name.to_owned(), json!(value)));
            let found = matches(Map::from_iter(arguments), &text);
            if found != expected.map(|expected| expected[place]) {
                wrong.push(format!(
                    "{mode} `{pattern}` ({flags}) in {text:?}: {found:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_pattern_that_is_no_regular_expression_is_refused() {
    let refused = |arguments: Value| {
        let arguments = arguments.as_object().unwrap().clone();
        refused("Regex", SpecArguments::Named(arguments))
    };
    let error = refused(json!({"pattern": "("}));
    assert!(
        error.starts_with("`Regex`: `(` is not a regular expression: "),
        "{error}"
    );
    assert_eq!(
        refused(json!({"pattern": "a", "flags": "g"})),
        "`Regex`: `g` is not a flag; flags are `i`, `m`, `s` and `x`"
    );
    assert_eq!(
        refused(json!({"pattern": "a", "mode": "whole"})),
        "`Regex`: `mode`: unknown value `whole`, expected one of `search`, `match`, `full`"
    );
}

#[test]
fn a_pattern_that_takes_too_many_steps_fails_the_evaluator() {
    let evaluator = built("Regex", json!({"pattern": "(a|a)*(?=b)c"}));
    let case = Case::<Untyped>::new("case", Value::Null);
    let output = json!("a".repeat(40));
    let error = block_on(evaluator.evaluate(&Context::new(&case, &output))).unwrap_err();
    let message = error.get_ref().to_string();
    assert!(message.contains("takes too many steps"), "{message}");
}
