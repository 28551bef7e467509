//! Where the evaluators differ from pydantic-evals on purpose.

use serde_json::{Value, json};

use super::{End, GoldenCase};

/// One deliberate difference.
pub(super) struct Difference {
    /// Our behaviour, and that of pydantic-evals.
    pub(super) why: &'static str,
    /// The cases that differ.
    pub(super) is: fn(&GoldenCase) -> bool,
    /// Our result for them.
    pub(super) ours: Ours,
}

pub(super) enum Ours {
    /// The evaluator fails in each case.
    Failure,
    /// The evaluator cannot be built.
    Refused,
    /// An outcome with this value, and this reason.
    Outcome(bool, Option<&'static str>),
    /// An outcome that failed, with a reason that begins so.
    Reason(&'static str),
}

impl Ours {
    pub(super) fn is(&self, end: &End) -> bool {
        match (self, end) {
            (Self::Failure, End::Failure) | (Self::Refused, End::Refused) => true,
            (Self::Outcome(value, reason), End::Outcomes(outcomes)) => {
                let [outcome] = outcomes.as_slice() else {
                    return false;
                };
                outcome["value"] == *value && outcome["reason"] == json!(reason)
            }
            (Self::Reason(start), End::Outcomes(outcomes)) => {
                let [outcome] = outcomes.as_slice() else {
                    return false;
                };
                let reason = outcome["reason"].as_str().unwrap_or_default();
                outcome["value"] == false && reason.starts_with(start)
            }
            _ => false,
        }
    }
}

pub(super) const DIFFERENCES: &[Difference] = &[
    Difference {
        why: "A list of tools must be a list of texts. pydantic-evals counts the letters of a text and the keys of an object, \
              and says that a number was not called.",
        is: |case| {
            let tools = ["expected_tools", "expected_trajectory"].map(|name| case.argument(name));
            let is_names = |tools: &Value| {
                tools
                    .as_array()
                    .is_some_and(|tools| tools.iter().all(Value::is_string))
            };
            tools.into_iter().flatten().any(|tools| !is_names(tools))
        },
        ours: Ours::Failure,
    },
    Difference {
        why: "A flag must be `true` or `false`. pydantic-evals takes `\"no\"` for true and `null` for false.",
        is: |case| {
            let flags = [
                "case_sensitive",
                "as_strings",
                "allow_extra",
                "include_failed",
            ];
            let flags = flags.map(|name| case.argument(name));
            flags.into_iter().flatten().any(|flag| !flag.is_boolean())
        },
        ours: Ours::Failure,
    },
    Difference {
        why: "`order` and `match_mode` must be one of their values. pydantic-evals takes every other value for the default.",
        is: |case| {
            let order = case
                .argument("order")
                .is_some_and(|order| order == "sorted");
            order
                || case
                    .argument("match_mode")
                    .is_some_and(|mode| mode == "superset")
        },
        ours: Ours::Failure,
    },
    Difference {
        why: "A tool's name must be a text. pydantic-evals says that a tool `5` was not called.",
        is: |case| {
            case.argument("tool_name")
                .is_some_and(|name| !name.is_string())
        },
        ours: Ours::Failure,
    },
    Difference {
        why: "Wrong arguments always fail. pydantic-evals does not look at those that it does not need, as without spans.",
        is: |case| {
            let budget = ["max_calls", "max_requests"].map(|name| case.argument(name));
            let is_wrong = |budget: &Value| budget.is_null() || budget.is_string();
            budget.into_iter().flatten().any(is_wrong) && case.judged.spans.is_null()
        },
        ours: Ours::Failure,
    },
    Difference {
        why: "Arguments of a tool that are no JSON fail in the words of our own parser. Python reads NaN, infinity and half a \
              surrogate pair.",
        is: |case| {
            let text = case.recorded_arguments();
            text.is_some_and(|text| serde_json::from_str::<Value>(text).is_err())
        },
        ours: Ours::Reason("Tool 't' arguments could not be parsed as JSON: "),
    },
    Difference {
        why: "Integers of more than 64 bits are floats.",
        is: |case| case.evaluator == "Equals" && case.argument("value") == Some(&json!(1e30)),
        ours: Ours::Outcome(true, None),
    },
    Difference {
        why: "Integers of more than 64 bits are printed as floats.",
        is: |case| case.evaluator == "Contains" && case.judged.output == json!([1e30]),
        ours: Ours::Outcome(
            false,
            Some("Output [1e+30] does not contain provided value"),
        ),
    },
    Difference {
        why: "Integers of more than 64 bits in the arguments of a tool are printed as floats.",
        is: |case| {
            case.recorded_arguments()
                .is_some_and(|text| text.contains("100000000000000000000"))
        },
        ours: Ours::Outcome(
            false,
            Some("Tool 't' argument mismatch: key 'a': expected 1, got 1e+20"),
        ),
    },
    Difference {
        why: "A query of spans is checked when it is read: pydantic-evals ignores unknown conditions, and meets others only while \
              it judges.",
        is: |case| {
            let wrong = [
                json!({"name_equal": "typo"}),
                json!({"or_": [{"name_equals": "x"}], "name_equals": "agent run"}),
                json!({"has_status": "failed"}),
                json!({"name_matches_regex": "("}),
                json!({"min_child_count": "1"}),
                json!("agent run"),
                Value::Null,
                json!(5),
            ];
            case.argument("query")
                .is_some_and(|query| wrong.contains(query))
        },
        ours: Ours::Refused,
    },
    Difference {
        why: "An empty value is a condition like any other. pydantic-evals ignores a condition whose value is empty.",
        is: |case| {
            let empty = [
                json!({"name_equals": ""}),
                json!({"not_": {}}),
                json!({"or_": []}),
                json!({"some_child_has": {}, "name_equals": "second root"}),
                json!({"no_child_has": {}, "name_equals": "agent run"}),
                json!({"some_descendant_has": {}, "name_equals": "second root"}),
                json!({"some_ancestor_has": {}, "name_equals": "second root"}),
                json!({
                    "stop_recursing_when": {},
                    "some_descendant_has": {"has_status": "error"},
                    "name_equals": "agent run",
                }),
            ];
            case.argument("query")
                .is_some_and(|query| empty.contains(query))
        },
        ours: Ours::Outcome(false, None),
    },
];
