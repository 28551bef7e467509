//! `ToolCorrectness`: whether the agent called the expected tools, in any order.

use std::collections::BTreeMap;

use evals::{Context, EvaluatorError};
use serde::Deserialize;

use super::steps::{self, NO_SPANS};
use crate::checks::check::{self, Check};
use crate::python::repr_text;
use crate::{Entry, Finding, Parameter, Untyped};

/// Compares the called tools with the expected ones; a tool that is expected twice must be called twice.
#[derive(Debug, Deserialize)]
struct ToolCorrectness {
    expected_tools: Vec<String>,
    allow_extra: bool,
    include_failed: bool,
}

pub(super) fn entry() -> Entry {
    check::lenient::<ToolCorrectness>(
        "ToolCorrectness",
        "Passes if the agent called the expected tools, in any order.",
        [
            steps::tool_names(
                "expected_tools",
                "The names of the tools; list a tool twice if it has to be called twice.",
            ),
            Parameter::flag(
                "allow_extra",
                false,
                "Whether the agent may also call other tools.",
            ),
            steps::include_failed(false),
            Parameter::evaluation_name(),
        ],
    )
}

impl Check for ToolCorrectness {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let Some(spans) = steps::spans(context) else {
            return Ok(Finding::failed(NO_SPANS));
        };
        let calls = steps::tool_calls(spans, self.include_failed);
        let actual = counted(calls.iter().map(|call| call.name));
        let expected = counted(self.expected_tools.iter().map(String::as_str));
        let mut problems = Vec::new();
        problems.extend(listed("missing tools", &expected, &actual));
        if !self.allow_extra {
            problems.extend(listed("unexpected tools", &actual, &expected));
        }
        if problems.is_empty() {
            return Ok(Finding::passed(true));
        }
        Ok(Finding::failed(problems.join("; ")))
    }
}

fn counted<'a>(names: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for name in names {
        *counts.entry(name).or_default() += 1;
    }
    counts
}

/// The names that `counts` has more often than `others`, in their order.
fn listed(
    title: &str,
    counts: &BTreeMap<&str, usize>,
    others: &BTreeMap<&str, usize>,
) -> Option<String> {
    let excess = counts.iter().filter_map(|(name, count)| {
        let other = others.get(name).copied().unwrap_or(0);
        let more = count.checked_sub(other).filter(|more| *more > 0)?;
        Some(format!("{} (x{more})", repr_text(name)))
    });
    let excess: Vec<String> = excess.collect();
    (!excess.is_empty()).then(|| format!("{title}: {}", excess.join(", ")))
}
