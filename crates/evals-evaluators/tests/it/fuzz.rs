//! Fuzz tests: evaluators take any arguments and judge any output without a panic.

use std::time::Duration;

use evals::{Case, Context, Recording, SpanTree, SpecArguments, Value as Verdict};
use evals_evaluators::{Built, Registry, Untyped};
use evals_fuzz::Target;
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::registered::build;

const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");

/// The evaluators that ask neither a model nor a command.
const NAMES: [&str; 18] = [
    "Equals",
    "EqualsExpected",
    "Contains",
    "IsInstance",
    "MaxDuration",
    "HasMatchingSpan",
    "ToolCorrectness",
    "TrajectoryMatch",
    "ArgumentCorrectness",
    "MaxToolCalls",
    "MaxModelRequests",
    "ExactMatch",
    "TokenF1",
    "RougeL",
    "NumberMatch",
    "Levenshtein",
    "Regex",
    "JsonSchema",
];

/// Judges what a text describes with the evaluator and the arguments that it names.
fn judge(input: &Value) {
    let Some(name) = input["evaluator"]
        .as_str()
        .filter(|name| NAMES.contains(name))
    else {
        return;
    };
    let arguments = match &input["arguments"] {
        Value::Null => SpecArguments::None,
        Value::Object(named) => SpecArguments::Named(named.clone()),
        other => SpecArguments::Positional([other.clone()]),
    };
    let Ok(Built::Case(evaluator)) = build(name, arguments) else {
        return;
    };
    let spec = evaluator.spec().unwrap();
    let Ok(Built::Case(again)) = build(name, spec.arguments.clone()) else {
        panic!("{spec:?} is not read back");
    };
    assert_eq!(again.spec(), Some(spec));
    let spans: Option<SpanTree> = serde_json::from_value(input["spans"].clone()).ok();
    let recording = Recording {
        spans,
        ..Recording::default()
    };
    let case = Case::<Untyped>::new("case", Value::Null).expecting(input["expected"].clone());
    let seconds = input["seconds"].as_f64().unwrap_or_default();
    let context = Context {
        duration: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
        recording: &recording,
        ..Context::new(&case, &input["output"])
    };
    let concerns = evaluator.concerns(&case);
    if let Ok(outcomes) = block_on(evaluator.evaluate(&context)) {
        assert!(outcomes.len() <= 1, "{outcomes:?}");
        assert!(concerns.is_some());
        for outcome in outcomes {
            let is_finite =
                !matches!(outcome.value, Verdict::Score(score) if !(0.0..=1.0).contains(&score));
            assert!(is_finite, "{outcome:?}");
        }
    }
}

#[test]
fn every_evaluator_that_asks_nobody_is_fuzzed() {
    let registry = Registry::built_in();
    for name in NAMES {
        assert!(registry.entry(name).is_some(), "{name}");
    }
}

#[test]
fn any_arguments_and_any_output_are_judged_or_refused() {
    let spans = json!({"roots": [{
        "name": "agent",
        "children": [
            {"name": "execute_tool search", "status": "error", "seconds": 0.5,
             "attributes": {"gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": "{\"q\": [1, \"x\\u00e9\"]}"}},
            {"name": "running tool", "attributes": {"gen_ai.tool.name": "search", "tool_arguments": "{'q'"}},
        ],
    }]});
    let arguments = [
        ("Equals", json!({"value": {"a": [1, 1.0, true, null]}})),
        (
            "Contains",
            json!({"value": "é", "case_sensitive": false, "as_strings": true, "evaluation_name": "x"}),
        ),
        ("Contains", json!({"value": {"a": 1}})),
        ("IsInstance", json!("str")),
        ("MaxDuration", json!(2.5)),
        (
            "HasMatchingSpan",
            json!({"query": {"and_": [{"or_": [{"name_matches_regex": "exec.*[a-z]{2}$"}]},
            {"not_": {"min_depth": 1, "stop_recursing_when": {}}}], "some_descendant_has": {"has_attributes": {"a": [1]}, "max_duration": 1}}}),
        ),
        (
            "ToolCorrectness",
            json!({"expected_tools": ["search", "it's"], "allow_extra": true}),
        ),
        (
            "TrajectoryMatch",
            json!({"expected_trajectory": ["search"], "order": "any_order", "include_failed": true}),
        ),
        (
            "ArgumentCorrectness",
            json!({"tool_name": "search", "expected_arguments": {"q": [1]}, "occurrence": 1, "match_mode": "exact", "include_failed": true}),
        ),
        ("MaxToolCalls", json!(1)),
        ("MaxModelRequests", json!(0)),
        ("TokenF1", json!({"reference": ["the 1,200 seats", 5]})),
        ("NumberMatch", json!("-$1.2 million")),
        ("Levenshtein", json!({"case_sensitive": false})),
        ("RougeL", Value::Null),
        (
            "JsonSchema",
            json!({
                "schema": {
                    "properties": {"a": {"pattern": "^t.*[0-9]{4}", "maxLength": 5}},
                    "anyOf": [{"$ref": "#/$defs/list"}, {"required": ["a"]}],
                    "$defs": {"list": {"type": "array", "items": {"$ref": "#"}, "multipleOf": 0.1}},
                },
                "parse": true,
            }),
        ),
        (
            "Regex",
            json!({"pattern": "(?m)^[]a-z[]+{x}(?P<n>\\d{,2})(?P=n)$|\\Z", "flags": "ix", "mode": "full"}),
        ),
    ];
    let mut target = Target::new("checks", CORPUS).dictionary([
        "null",
        "true",
        "1e308",
        "-0.0",
        "99999999999999999999",
        "{}",
        "[]",
        "\"\"",
        "\"\\u0000\"",
        "\\ud83d\\ude00",
        "{\"or_\":",
        "(?x:",
        "[[:",
        "\\\\",
        "{2,1}",
        "(?<",
        "execute_tool ",
    ]);
    for (evaluator, arguments) in arguments {
        let seed = json!({
            "evaluator": evaluator,
            "arguments": arguments,
            "output": {"a": "the 1200 Seats\n"},
            "expected": "é 1,200",
            "seconds": 0.25,
            "spans": spans,
        });
        target = target.seed(seed.to_string());
        let text = json!({"evaluator": evaluator, "arguments": arguments, "output": "x\n12", "expected": ["x", 12]});
        target = target.seed(text.to_string());
    }
    target.run(|input| {
        if let Ok(input) = serde_json::from_slice(input) {
            judge(&input);
        }
    });
}
