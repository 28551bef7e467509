//! How a model's server is reached.

use std::num::NonZeroUsize;

use evals_models::redacted_fields;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::redaction;

/// The protocol of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Ollama's.
    Ollama,
    /// OpenAI's, which most servers speak.
    OpenAi,
}

/// Settings of every model behind a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Connection {
    /// The address of the server, instead of the provider's.
    #[serde(
        serialize_with = "redacted_address",
        skip_serializing_if = "Option::is_none"
    )]
    pub base_url: Option<String>,
    /// The name of the environment variable that holds the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Time limit of one request, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Most requests in flight at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_concurrency: Option<NonZeroUsize>,
    /// Further fields of every request, sent unchanged.
    #[serde(
        serialize_with = "serialize_fields",
        skip_serializing_if = "Map::is_empty"
    )]
    pub extra_body: Map<String, Value>,
}

/// Writes an address without its user name and password, because settings are printed and stored.
#[expect(clippy::ref_option, reason = "the signature is serde's")]
pub(crate) fn redacted_address<S: Serializer>(
    address: &Option<String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let address = address.as_deref().map(redaction::address);
    address.serialize(serializer)
}

/// Writes fields of a request with credentials redacted.
fn serialize_fields<S: Serializer>(
    fields: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    redacted_fields(fields).serialize(serializer)
}
