//! How server-sent events become a reply.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How server-sent events become a reply.
///
/// Written `true` for the defaults, or as a mapping. The texts of all events are joined and become the answer. The objects in the events
/// are merged, later fields over earlier ones, and `response` reads everything else from the result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamSettings {
    /// The JSONPath of the text in each event's data. By default it is that of OpenAI's protocol,
    /// `$.choices[0].delta.content`, and data that is no JSON object is text itself.
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
