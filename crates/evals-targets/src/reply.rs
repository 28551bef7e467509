//! The reply of a target.

use std::collections::BTreeMap;
use std::time::Duration;

use evals::{Span, SpanTree, Timing};
use evals_models::Usage;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

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
    /// Service times as we saw them: `target`, and `first token` for a stream.
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
