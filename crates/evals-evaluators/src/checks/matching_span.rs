//! `HasMatchingSpan`: whether the task had a step of some kind.

use evals::{Context, EvaluatorError};
use serde::Deserialize;

use super::check::{self, Check};
use crate::spans::{self, SpanQuery};
use crate::{Entry, Finding, Parameter, Untyped};

/// pydantic-evals fails too, where the evaluators of tool calls only give a reason.
const NO_SPANS: &str =
    "the task recorded no spans; a target reports them as `spans` or `tool_calls`";

/// Looks for a span that matches a query.
#[derive(Debug, Deserialize)]
struct HasMatchingSpan {
    query: SpanQuery,
}

/// The entry of `HasMatchingSpan`.
pub(crate) fn entry() -> Entry {
    let query = Parameter::required("query", spans::schema(), "The conditions on the span.");
    check::strict::<HasMatchingSpan>(
        "HasMatchingSpan",
        "Passes if one of the task's spans matches a query.",
        [query, Parameter::evaluation_name()],
        |arguments, _| Ok(arguments.read()?),
    )
}

impl Check for HasMatchingSpan {
    fn judge(&self, context: &Context<'_, Untyped>) -> Result<Finding, EvaluatorError> {
        let spans = context.recording.spans.as_ref();
        let spans = spans.ok_or_else(|| EvaluatorError::new(NO_SPANS))?;
        Ok(Finding::passed(self.query.matches_any(spans)?))
    }
}
