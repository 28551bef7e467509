//! `TrajectoryMatch`: how close the agent's calls of tools come to an expected sequence.

use std::collections::BTreeMap;

use evals::{Context, EvaluatorError, ValueKind};
use evals_metrics::as_f64;
use evals_rag::text::alignment::longest_common_subsequence;
use evals_rag::text::f1;
use serde::Deserialize;

use super::steps::{self, NO_SPANS};
use crate::checks::check::{self, Check};
use crate::python::repr_texts;
use crate::{Entry, Finding, Parameter, Untyped};

/// Compares the sequence of called tools with an expected one.
#[derive(Debug, Deserialize)]
struct TrajectoryMatch {
    expected_trajectory: Vec<String>,
    order: OrderRule,
    include_failed: bool,
}

/// The rule for the calls that two sequences have in common.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OrderRule {
    /// All or nothing.
    Exact,
    /// The longest common subsequence.
    InOrder,
    /// The names with their numbers.
    AnyOrder,
}

pub(super) fn entry() -> Entry {
    check::lenient::<TrajectoryMatch>(
        "TrajectoryMatch",
        "Scores how close the sequence of called tools comes to the expected one, from 0 to 1.",
        [
            steps::tool_names(
                "expected_trajectory",
                "The names of the tools, in the order of their calls.",
            ),
            Parameter::choice(
                "order",
                "in_order",
                &["exact", "in_order", "any_order"],
                "`exact`: 1 if the sequences are equal, else 0. `in_order`: the F1 of their longest common subsequence. \
                 `any_order`: the F1 of the calls that they have in common.",
            ),
            steps::include_failed(false),
            Parameter::evaluation_name(),
        ],
    )
}

impl Check for TrajectoryMatch {
    const KIND: ValueKind = ValueKind::Score;

    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let Some(spans) = steps::spans(context) else {
            return Ok(Finding::score(0.0).because(NO_SPANS));
        };
        let calls = steps::tool_calls(spans, self.include_failed);
        let actual: Vec<&str> = calls.iter().map(|call| call.name).collect();
        let expected: Vec<&str> = self
            .expected_trajectory
            .iter()
            .map(String::as_str)
            .collect();
        Ok(self.compare(&actual, &expected))
    }
}

impl TrajectoryMatch {
    fn compare(&self, actual: &[&str], expected: &[&str]) -> Finding {
        let [shown_actual, shown_expected] =
            [actual, expected].map(|names| repr_texts(names.iter().copied()));
        let (title, common) = match self.order {
            OrderRule::Exact if actual == expected => {
                let reason = format!("actual trajectory matches expected: {shown_actual}");
                return Finding::score(1.0).because(reason);
            }
            OrderRule::Exact => {
                return Finding::score(0.0).because(format!(
                    "actual trajectory {shown_actual} does not equal expected {shown_expected}"
                ));
            }
            OrderRule::InOrder | OrderRule::AnyOrder
                if actual.is_empty() && expected.is_empty() =>
            {
                let reason = "both actual and expected trajectories are empty";
                return Finding::score(1.0).because(reason);
            }
            OrderRule::InOrder => ("LCS", longest_common_subsequence(actual, expected)),
            OrderRule::AnyOrder => ("multiset overlap", overlap(actual, expected)),
        };
        let [precision, recall] = [actual, expected].map(|names| share(common, names.len()));
        let f1 = f1(precision, recall);
        let (calls, wanted) = (actual.len(), expected.len());
        Finding::score(f1).because(format!(
            "{title}={common}, precision={common}/{calls}={precision:.3}, recall={common}/{wanted}={recall:.3}, \
             F1={f1:.3} (expected: {shown_expected}, actual: {shown_actual})"
        ))
    }
}

fn share(common: usize, all: usize) -> f64 {
    if all > 0 {
        as_f64(common) / as_f64(all)
    } else {
        0.0
    }
}

fn overlap(actual: &[&str], expected: &[&str]) -> usize {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for name in expected {
        *left.entry(name).or_default() += 1;
    }
    let common = actual.iter().filter(|name| match left.get_mut(*name) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        Some(_) | None => false,
    });
    common.count()
}
