//! Spans: the steps of a task, such as calls of models and tools, as a tree.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One step of a task.
///
/// Attributes follow OpenTelemetry's conventions for generative AI where they exist: `gen_ai.operation.name` is `chat` or
/// `execute_tool`, `gen_ai.tool.name` names a tool, `gen_ai.request.model` a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Names the step.
    pub name: String,
    /// Facts about the step.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub attributes: Map<String, Value>,
    /// How long the step took, the steps inside it included.
    #[serde(rename = "seconds", with = "crate::json::seconds", default)]
    pub duration: Duration,
    /// Whether the step succeeded.
    #[serde(default, skip_serializing_if = "SpanStatus::is_unset")]
    pub status: SpanStatus,
    /// The steps inside this one, in the order of their starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Span>,
}

/// Whether a step succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpanStatus {
    /// Nobody said.
    #[default]
    Unset,
    /// It succeeded.
    Ok,
    /// It failed.
    Error,
}

/// The steps of one run of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpanTree {
    /// The outermost steps, in the order of their starts.
    pub roots: Vec<Span>,
}

impl SpanStatus {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes fields by reference"
    )]
    fn is_unset(&self) -> bool {
        *self == Self::Unset
    }
}

impl Span {
    /// A step without attributes, which nobody has timed.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// The call of a tool, as OpenTelemetry's conventions name it: `execute_tool NAME`.
    ///
    /// The arguments are kept as JSON text; `null` says that they are not known. A call that failed has the status
    /// [`SpanStatus::Error`].
    ///
    /// ```
    /// let call = evals::Span::tool_call("search", &serde_json::json!({"query": "rust"}), false);
    /// assert_eq!(call.name, "execute_tool search");
    /// assert_eq!(call.attributes["gen_ai.tool.call.arguments"], r#"{"query":"rust"}"#);
    /// ```
    pub fn tool_call(name: &str, arguments: &Value, failed: bool) -> Self {
        let mut span = Self::new(format!("execute_tool {name}"))
            .attribute("gen_ai.operation.name", "execute_tool")
            .attribute("gen_ai.tool.name", name);
        if !arguments.is_null() {
            span = span.attribute("gen_ai.tool.call.arguments", arguments.to_string());
        }
        if failed {
            span.status = SpanStatus::Error;
        }
        span
    }

    /// A request to a chat model, as OpenTelemetry's conventions name it: `chat MODEL`.
    pub fn model_request(model: &str) -> Self {
        Self::new(format!("chat {model}"))
            .attribute("gen_ai.operation.name", "chat")
            .attribute("gen_ai.request.model", model)
    }

    /// Adds a fact.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }
}

impl SpanTree {
    /// The numbers that pydantic-evals takes from the requests to models, which are the spans with a `gen_ai.request.model`:
    /// `requests`, `cost`, and the sums of what they report as `gen_ai.usage.…` and `gen_ai.usage.details.…`, such as
    /// `input_tokens`. A number that would be 0 is left out.
    pub fn metrics(&self) -> BTreeMap<String, f64> {
        let mut metrics: BTreeMap<String, f64> = BTreeMap::new();
        let requests = self
            .iter()
            .filter(|span| span.attributes.contains_key("gen_ai.request.model"));
        for (name, value) in requests.flat_map(|span| &span.attributes) {
            let usage = name.strip_prefix("gen_ai.usage.");
            let (metric, amount) = match (name.as_str(), usage) {
                ("gen_ai.operation.name", _) if value == "chat" => ("requests", Some(1.0)),
                ("operation.cost", _) => ("cost", value.as_f64()),
                (_, Some(usage)) => (
                    usage.strip_prefix("details.").unwrap_or(usage),
                    value.as_f64(),
                ),
                _ => continue,
            };
            *metrics.entry(metric.to_owned()).or_default() += amount.unwrap_or_default();
        }
        metrics.retain(|_, sum| *sum != 0.0);
        metrics
    }

    /// All steps, each before the steps inside it.
    pub fn iter(&self) -> impl Iterator<Item = &Span> {
        let mut ahead: Vec<&Span> = self.roots.iter().rev().collect();
        std::iter::from_fn(move || {
            let span = ahead.pop()?;
            ahead.extend(span.children.iter().rev());
            Some(span)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_comes_before_the_steps_inside_it() {
        let inner = |name: &str, children| Span {
            children,
            ..Span::new(name)
        };
        let tree = SpanTree {
            roots: vec![
                inner("a", vec![inner("b", vec![Span::new("c")]), Span::new("d")]),
                Span::new("e"),
            ],
        };
        let names: Vec<&str> = tree.iter().map(|span| span.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e"]);
    }

    #[test]
    fn requests_to_models_add_up_to_metrics() {
        let chat = |tokens: u64| {
            Span::model_request("gpt")
                .attribute("gen_ai.usage.input_tokens", tokens)
                .attribute("gen_ai.usage.details.cached", 2)
                .attribute("gen_ai.usage.output_tokens", 0)
                .attribute("gen_ai.usage.note", "none")
                .attribute("operation.cost", 0.25)
        };
        let tool = Span::tool_call("search", &Value::Null, false);
        let tree = SpanTree {
            roots: vec![Span {
                children: vec![
                    chat(10),
                    chat(5).attribute("gen_ai.operation.name", "embed"),
                ],
                ..tool.attribute("gen_ai.usage.input_tokens", 100)
            }],
        };
        let metrics = [
            ("cached", 4.0),
            ("cost", 0.5),
            ("input_tokens", 15.0),
            ("requests", 1.0),
        ];
        let metrics = metrics.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(tree.metrics(), BTreeMap::from(metrics));
    }

    #[test]
    fn a_step_reads_back_as_it_was_written() {
        let span = Span {
            duration: Duration::from_millis(1500),
            status: SpanStatus::Error,
            ..Span::new("running tool").attribute("gen_ai.tool.name", "search")
        };
        let written = serde_json::to_string(&span).unwrap();
        assert_eq!(serde_json::from_str::<Span>(&written).unwrap(), span);
    }
}
