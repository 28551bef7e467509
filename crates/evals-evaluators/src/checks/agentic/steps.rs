//! The steps of an agent: which spans are calls of tools and requests to models.
//!
//! Spans are read as pydantic-evals reads them, so that traces of pydantic-ai and of every library with OpenTelemetry's
//! conventions for generative AI count the same.

use evals::{Context, Span, SpanStatus, SpanTree};
use serde_json::{Value, json};

use crate::{Parameter, Untyped};

/// The reason if the task recorded no spans, in the words of pydantic-evals.
pub(super) const NO_SPANS: &str =
    "No span tree available — ensure logfire/instrumentation is configured.";

const TOOL_NAME: &str = "gen_ai.tool.name";
const MESSAGE: &str = "logfire.msg";
/// On calls that an agent put off, and that did not run.
const DEFERRAL: &str = "pydantic_ai.tool.deferral.name";

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordedCall<'a> {
    pub(super) name: &'a str,
    /// The arguments: JSON text, or an object. `None` if they were not recorded.
    pub(super) arguments: Option<&'a Value>,
}

/// The spans that the task recorded.
pub(super) fn spans<'a>(context: &Context<'a, Untyped>) -> Option<&'a SpanTree> {
    context.recording.spans.as_ref()
}

/// The calls of tools in the order of their starts, in which a tree lists its spans.
pub(super) fn tool_calls(spans: &SpanTree, include_failed: bool) -> Vec<RecordedCall<'_>> {
    let calls = spans.iter().filter_map(|span| {
        let call = tool_call(span)?;
        (include_failed || span.status != SpanStatus::Error).then_some(call)
    });
    calls.collect()
}

/// How many requests to chat models there are.
pub(super) fn model_requests(spans: &SpanTree) -> usize {
    let requests = spans.iter().filter(|span| {
        let operation = span.attributes.get("gen_ai.operation.name");
        span.attributes.contains_key("gen_ai.request.model")
            && operation.and_then(Value::as_str) == Some("chat")
    });
    requests.count()
}

/// The call that a span stands for: `running tool` in older versions of pydantic-ai, `execute_tool NAME` by the conventions.
/// A function that makes the agent's output has a span of the same shape, and is no tool.
fn tool_call(span: &Span) -> Option<RecordedCall<'_>> {
    let name = span.attributes.get(TOOL_NAME)?.as_str()?;
    if span.attributes.contains_key(DEFERRAL) {
        return None;
    }
    let message = span.attributes.get(MESSAGE).and_then(Value::as_str);
    let makes_output = message.is_some_and(|text| text.starts_with("running output function:"));
    let runs_tool =
        span.name == "running tool" || (span.name.starts_with("execute_tool ") && !makes_output);
    let attribute = |key| span.attributes.get(key).filter(|value| !value.is_null());
    let arguments = attribute("gen_ai.tool.call.arguments").or_else(|| attribute("tool_arguments"));
    runs_tool.then_some(RecordedCall {
        name,
        arguments: arguments.filter(|value| value.is_string() || value.is_object()),
    })
}

/// The parameter that says whether calls that failed count.
pub(super) fn include_failed(default: bool) -> Parameter {
    Parameter::flag(
        "include_failed",
        default,
        "Whether calls that ended in an error also count.",
    )
}

/// A parameter that is a list of tools.
pub(super) fn tool_names(name: &'static str, description: &'static str) -> Parameter {
    let names = json!({"type": "array", "items": {"type": "string"}});
    Parameter::required(name, names, description)
}
