//! Arguments of the wrong type, and what counts when something fails.

use evals::{Case, Concern, Context, SpecArguments};
use evals_evaluators::Untyped;
use futures::executor::block_on;
use serde_json::{Value, json};

use crate::registered::{build, built, refused};

fn failure(name: &str, arguments: Value) -> String {
    let evaluator = built(name, arguments);
    let case = Case::<Untyped>::new("case", Value::Null);
    let error = block_on(evaluator.evaluate(&Context::new(&case, &Value::Null))).unwrap_err();
    error.get_ref().to_string()
}

#[test]
fn arguments_of_the_wrong_type_fail_each_case() {
    assert_eq!(
        failure("MaxDuration", json!({"seconds": "2"})),
        "`seconds`: expected a number of seconds, found `\"2\"`"
    );
    assert_eq!(
        failure("Contains", json!({"value": "x", "case_sensitive": "no"})),
        "`case_sensitive`: expected `true` or `false`, found the text \"no\""
    );
    assert_eq!(
        failure("ToolCorrectness", json!({"expected_tools": "search"})),
        "`expected_tools`: expected a list, found the text \"search\""
    );
    assert_eq!(
        failure(
            "TrajectoryMatch",
            json!({"expected_trajectory": [], "order": "sorted"})
        ),
        "`order`: unknown value `sorted`, expected one of `exact`, `in_order`, `any_order`"
    );
    assert_eq!(
        failure("MaxToolCalls", json!({"max_calls": null})),
        "`max_calls`: expected a number, found `null`"
    );
}

#[test]
fn a_span_query_is_refused_with_the_place_of_the_mistake() {
    let query = |query: Value| {
        let arguments = SpecArguments::Named([("query".to_owned(), query)].into_iter().collect());
        refused("HasMatchingSpan", arguments)
    };
    assert_eq!(
        query(json!({"some_child_has": {"and_": [{}, {"name_equal": "x"}]}})),
        "`HasMatchingSpan`: `query`: `some_child_has`: `and_[1]`: no condition is called `name_equal`; did you mean `name_equals`?"
    );
    assert_eq!(
        query(json!({"or_": [], "min_depth": 1})),
        "`HasMatchingSpan`: `query`: `or_` must stand alone; move it into the list of an `and_`"
    );
    assert_eq!(
        query(json!({"min_duration": "1 s"})),
        "`HasMatchingSpan`: `query`: `min_duration`: expected a number of seconds, found `\"1 s\"`"
    );
    let error = query(json!({"name_matches_regex": "("}));
    let start =
        "`HasMatchingSpan`: `query`: `name_matches_regex`: `(` is not a regular expression: ";
    assert!(error.starts_with(start), "{error}");
    assert_eq!(
        refused("HasMatchingSpan", SpecArguments::None),
        "`HasMatchingSpan` needs the argument `query`"
    );
}

#[test]
fn spans_that_were_not_recorded_fail_the_query_of_spans() {
    assert_eq!(
        failure("HasMatchingSpan", json!({"query": {}})),
        "the task recorded no spans; a target reports them as `spans` or `tool_calls`"
    );
}

#[test]
fn a_failed_task_counts_for_the_outcome_of_every_check() {
    let case = Case::<Untyped>::new("case", Value::Null);
    let concerns = |name, arguments| built(name, arguments).concerns(&case);
    assert_eq!(
        concerns("Contains", json!({"value": 1, "evaluation_name": "one"})),
        Some(vec![Concern::assertion("one")])
    );
    assert_eq!(
        concerns("TrajectoryMatch", json!({"expected_trajectory": []})),
        Some(vec![Concern::score("TrajectoryMatch")])
    );
    // A case without an expected output gets no outcome, whatever its output.
    assert_eq!(concerns("EqualsExpected", json!({})), Some(Vec::new()));
}

#[test]
fn unknown_evaluators_are_refused_with_the_nearest_name() {
    let error = build("EqualExpected", SpecArguments::None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no evaluator is called `EqualExpected`; did you mean `EqualsExpected`?"
    );
}
