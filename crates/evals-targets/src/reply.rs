//! The reply of a target, and how it is recorded in the report of its case.

use std::collections::BTreeMap;
use std::time::Duration;

use evals::{Span, SpanTree, TaskScope, Timing};
use evals_models::Usage;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::TargetIdentity;

/// The reply of a target. Everything in it is optional; what is missing is undefined in the report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reply {
    /// The answer: a text for a benchmark, any JSON for a dataset file, `null` included.
    #[serde(deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub answer: Option<Value>,
    /// The documents that the target found, best first; an empty list says that it found none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<Vec<ReplyDocument>>,
    /// The ids of the documents that the answer cites, in the order of their first citation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citations: Option<Vec<String>>,
    /// Whether the target declined to answer; `None` leaves it to the sentences known as refusals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<bool>,
    /// Tokens that the target used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The model that answered, which prices need.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that the target called, in order; `None` if it does not report them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    /// Its steps, if it reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spans: Option<SpanTree>,
    /// Other facts.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
    /// Other numbers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// The version of the system that replied, if it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The process that gave the reply, if it is one that remembers conversations. No two processes of any command have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Service times as we saw them: `target`, `first token` for a stream, and `embed` for a question's vector.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timings: Vec<Timing>,
    /// How long the target says that it took.
    #[serde(
        rename = "reported_seconds",
        with = "optional_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub reported: Option<Duration>,
}

impl Reply {
    /// The stage that times the target as we saw it.
    pub const STAGE: &str = "target";
    /// The stage that times the embedding of the question, which is not part of [`STAGE`](Self::STAGE).
    pub const EMBED_STAGE: &str = "embed";
    /// The stage that times the start of a command that says when it can answer. The start is not part of [`STAGE`](Self::STAGE).
    pub const START_STAGE: &str = "target (start)";
    /// The stage that times the target as it reports itself.
    pub const REPORTED_STAGE: &str = "target (reported)";
    /// The stage that times a stream up to its first token.
    pub const FIRST_TOKEN_STAGE: &str = "first token";

    /// The time of a stage that was not cached.
    pub fn timing(stage: &str, duration: Duration) -> Timing {
        Timing {
            stage: stage.to_owned(),
            duration,
            cached: false,
        }
    }

    /// Passes the names that the target chose itself through `rename`: those of attributes and metrics, and of members of its answer, of
    /// arguments and of facts about its steps.
    pub fn rename(&mut self, rename: &impl Fn(&str) -> String) {
        self.answer.iter_mut().for_each(|it| members(it, rename));
        let calls = self.tool_calls.iter_mut().flatten();
        calls.for_each(|call| members(&mut call.arguments, rename));
        let spans = self.spans.iter_mut().flat_map(|tree| tree.roots.iter_mut());
        spans.for_each(|span| attributes(span, rename));
        renamed(&mut self.attributes, rename);
        let metrics = std::mem::take(&mut self.metrics).into_iter();
        let metrics = metrics.map(|(name, value)| (rename(&name), value));
        self.metrics = metrics.collect();
    }
}

fn attributes(span: &mut Span, rename: &impl Fn(&str) -> String) {
    renamed(&mut span.attributes, rename);
    let children = span.children.iter_mut();
    children.for_each(|child| attributes(child, rename));
}

fn members(value: &mut Value, rename: &impl Fn(&str) -> String) {
    match value {
        Value::Object(object) => renamed(object, rename),
        Value::Array(items) => items.iter_mut().for_each(|item| members(item, rename)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn renamed(object: &mut Map<String, Value>, rename: &impl Fn(&str) -> String) {
    let own = std::mem::take(object).into_iter();
    object.extend(own.map(|(name, mut value)| {
        members(&mut value, rename);
        (rename(&name), value)
    }));
}

/// A document that a target found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplyDocument {
    /// The target's own id of the document or of a passage, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The target's score, if it has one. The order of the list decides, not the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The document's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The text that was found or shown to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// A tool that a target called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Value,
    /// Whether the call failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl ToolCall {
    /// The call as a step of the task, which evaluators of tool calls read.
    pub fn span(&self) -> Span {
        Span::tool_call(&self.name, &self.arguments, self.failed)
    }
}

/// A value that is there, `null` included.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

mod optional_seconds {
    //! Durations as seconds.

    use std::time::Duration;

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes fields by reference")]
    pub(super) fn serialize<S: Serializer>(
        duration: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let seconds = duration.as_ref().map(Duration::as_secs_f64);
        seconds.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let seconds: Option<f64> = Option::deserialize(deserializer)?;
        let duration = seconds.map(Duration::try_from_secs_f64).transpose();
        duration.map_err(serde::de::Error::custom)
    }
}

impl Reply {
    /// Records everything but the answer, the documents, the citations and the usage, whose measures and names depend on the
    /// benchmark.
    ///
    /// The stage [`target`](Self::STAGE) is the time that we saw, [`target (reported)`](Self::REPORTED_STAGE) the one that the
    /// target reports. The first of them that the reply has, and [`embed`](Self::EMBED_STAGE), are the duration of the case, even if the reply was recorded before. So a wait for
    /// a free process or for the rate limit, or the [start](Self::START_STAGE) of a command, is not part of it. A reply from a file that has
    /// neither is [untimed](TaskScope::untimed). Tool calls become spans, unless spans of the reply show calls of tools already.
    pub fn record(&self, target: &TargetIdentity, scope: &TaskScope) {
        let mut is_cached = false;
        for timing in &self.timings {
            // A stored vector says nothing about the target.
            is_cached |= timing.cached && timing.stage != Self::EMBED_STAGE;
            if timing.cached {
                scope.cached_timing(&timing.stage, timing.duration);
            } else {
                scope.timing(&timing.stage, timing.duration);
            }
        }
        match self.reported {
            Some(reported) if is_cached => scope.cached_timing(Self::REPORTED_STAGE, reported),
            Some(reported) => scope.timing(Self::REPORTED_STAGE, reported),
            None => {}
        }
        match self.duration() {
            Some(duration) => scope.took(duration),
            None if target.is_file() => scope.untimed("the reply has no time"),
            None => {}
        }
        for (name, value) in &self.metrics {
            scope.metric(name, *value);
        }
        for (name, value) in &self.attributes {
            scope.attribute(name, value.clone());
        }
        self.record_steps(scope);
    }

    /// How long the target took, as we saw it or else as it reports, with the embedding of the question.
    pub fn duration(&self) -> Option<Duration> {
        let stage = |name: &str| {
            let mut timings = self.timings.iter();
            let timing = timings.find(|timing| timing.stage == name);
            timing.map(|timing| timing.duration)
        };
        let target = stage(Self::STAGE).or(self.reported)?;
        Some(target + stage(Self::EMBED_STAGE).unwrap_or_default())
    }

    fn record_steps(&self, scope: &TaskScope) {
        if self.spans.is_some() || self.tool_calls.is_some() {
            scope.records_spans();
        }
        for span in self.spans.iter().flat_map(|spans| &spans.roots) {
            scope.span(span.clone());
        }
        let shows_tools = self.spans.as_ref().is_some_and(shows_tools);
        for call in self.tool_calls.iter().flatten().filter(|_| !shows_tools) {
            scope.span(call.span());
        }
    }
}

/// Whether a step names the tool that it calls.
fn shows_tools(spans: &SpanTree) -> bool {
    let mut spans = spans.iter();
    spans.any(|span| span.attributes.contains_key("gen_ai.tool.name"))
}

#[cfg(test)]
mod tests {
    use evals::{Span, SpanTree, Timing};
    use serde_json::json;

    use super::*;
    use crate::ToolCall;

    fn recorded(reply: &Reply) -> evals::Recording {
        let scope = TaskScope::default();
        reply.record(&TargetIdentity::new("fn", "test"), &scope);
        scope.take()
    }

    #[test]
    fn both_times_are_recorded_and_cached_together() {
        let mut reply = Reply {
            timings: vec![Timing {
                stage: Reply::STAGE.to_owned(),
                duration: Duration::from_secs(2),
                cached: false,
            }],
            reported: Some(Duration::from_secs(1)),
            ..Reply::default()
        };
        let stages = |reply: &Reply| {
            let timings = recorded(reply).timings.into_iter();
            let stages = timings.map(|it| (it.stage, it.duration.as_secs(), it.cached));
            stages.collect::<Vec<_>>()
        };
        let expected = |cached| {
            vec![
                ("target".to_owned(), 2, cached),
                ("target (reported)".to_owned(), 1, cached),
            ]
        };
        assert_eq!(stages(&reply), expected(false));
        reply.timings[0].cached = true;
        assert_eq!(stages(&reply), expected(true));
        assert_eq!(reply.duration(), Some(Duration::from_secs(2)));
        reply.timings.clear();
        assert_eq!(reply.duration(), Some(Duration::from_secs(1)));
        reply.reported = None;
        assert_eq!(reply.duration(), None);
    }

    #[test]
    fn a_tool_call_is_a_span_that_names_the_tool() {
        let reply = Reply {
            tool_calls: Some(vec![ToolCall {
                name: "search".to_owned(),
                arguments: json!({"q": "cats"}),
                failed: true,
            }]),
            ..Reply::default()
        };
        let spans = recorded(&reply).spans.unwrap();
        let expected = Span::tool_call("search", &json!({"q": "cats"}), true);
        assert_eq!(spans.roots, [expected]);
    }

    #[test]
    fn tool_calls_join_spans_that_show_none() {
        let call = ToolCall {
            name: "search".to_owned(),
            arguments: json!({}),
            failed: false,
        };
        let mut reply = Reply {
            spans: Some(SpanTree {
                roots: vec![Span::new("plan")],
            }),
            tool_calls: Some(vec![call.clone()]),
            ..Reply::default()
        };
        let names = |reply: &Reply| {
            let spans = recorded(reply).spans.unwrap();
            let names = spans.roots.into_iter().map(|span| span.name);
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(&reply), ["plan", "execute_tool search"]);
        reply.spans.as_mut().unwrap().roots[0].children = vec![call.span()];
        assert_eq!(names(&reply), ["plan"]);
    }

    #[test]
    fn no_tool_call_differs_from_none_reported() {
        let none = Reply::default();
        assert_eq!(recorded(&none).spans, None);
        let empty = Reply {
            tool_calls: Some(Vec::new()),
            ..Reply::default()
        };
        assert_eq!(recorded(&empty).spans, Some(SpanTree::default()));
    }
}
