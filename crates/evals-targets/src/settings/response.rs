//! Which fields of a reply hold what: RFC 9535 JSONPath expressions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
