//! Which fields of a reply hold what, and how server-sent events become a reply.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which fields of a reply hold what, as RFC 9535 JSONPath expressions. Fields that are not named are not read.
///
/// The paths of `document_…` start at one document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResponseSettings {
    /// The answer: `$.choices[0].message.content`, or `$` for the whole reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The documents, best first: `$.hits[*]`, or a path to a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<String>,
    /// A document's id. The default is `$.id`, or the document itself if it is a text or a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<String>,
    /// A document's score. The default is `$.score`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_score: Option<String>,
    /// A document's title. The default is `$.title`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_title: Option<String>,
    /// A document's text. The default is `$.text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_text: Option<String>,
    /// The ids of the cited documents: `$.sources[*].id`, or a path to a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub citations: Option<String>,
    /// Whether the target declined to answer: a field that is true or false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The tokens used.
    #[serde(skip_serializing_if = "UsageSettings::is_default")]
    pub usage: UsageSettings,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How long the target says that it took, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_seconds: Option<String>,
    /// How long the target says that it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<String>,
    /// The version of the system that replied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The tools called, in order: objects with `name` and `arguments`, or those of OpenAI's protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<String>,
    /// An object of further facts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attributes: Option<String>,
    /// An object of further numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<String>,
    /// A message that says why there is no answer. Where it is not null, the case fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The id of the case that the reply is for, which is compared with the one that was sent. The default does not compare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// Which fields of a reply count tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UsageSettings {
    /// The tokens read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<String>,
    /// The tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<String>,
}

impl ResponseSettings {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl UsageSettings {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How server-sent events become a reply.
///
/// Written `true` for the defaults, or as a mapping. The texts of all events are joined and become the answer. The objects in the events
/// are merged, later fields over earlier ones, and `response` reads everything else from the result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamSettings {
    /// The JSONPath of the text in each event's data. By default it is that of OpenAI's protocol,
    /// `$.choices[0].delta.content`, and data that is not a JSON object is text itself.
    pub text: Option<String>,
    /// The data of the event that ends the stream. If it is set, a stream that ends without it is incomplete. By default `[DONE]` ends a
    /// stream, and so does the end of the body.
    pub done: Option<String>,
}

/// [`StreamSettings`] as a mapping.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Fields {
    /// The JSONPath of the text in each event's data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The data of the event that ends the stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    done: Option<String>,
}

impl Serialize for StreamSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { text, done } = self.clone();
        if text.is_none() && done.is_none() {
            return serializer.serialize_bool(true);
        }
        Fields { text, done }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for StreamSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl<'de> serde::de::Visitor<'de> for Visitor {
    type Value = StreamSettings;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("`true` or a mapping with `text` and `done`")
    }

    fn visit_bool<E: serde::de::Error>(self, streams: bool) -> Result<StreamSettings, E> {
        if streams {
            Ok(StreamSettings::default())
        } else {
            Err(E::custom(
                "leave `stream` out for a service that does not stream",
            ))
        }
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<StreamSettings, A::Error> {
        let deserializer = serde::de::value::MapAccessDeserializer::new(map);
        let Fields { text, done } = Fields::deserialize(deserializer)?;
        Ok(StreamSettings { text, done })
    }
}

impl JsonSchema for StreamSettings {
    fn schema_name() -> Cow<'static, str> {
        "StreamSettings".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let fields = Fields::json_schema(generator);
        json_schema!({
            "description": "How server-sent events become a reply: `true` for the defaults, or a mapping.",
            "anyOf": [fields, {"const": true}],
        })
    }
}
