//! The parts that the chat models of both protocols share: their replies, reasoning and parameters.

#[cfg(test)]
mod fuzz;
pub(crate) mod raw_reply;
pub(crate) mod reasoning;

use serde_json::{Map, Value, json};

use crate::server::redacted_fields;
use crate::settings::{ChatSettings, Think};
use evals_models::ModelIdentity;

/// A chat model's settings, under their names in settings files. Settings that are not set are left out, and so are credentials.
pub(crate) fn parameters(model: &ModelIdentity, settings: &ChatSettings) -> Map<String, Value> {
    let mut parameters = Map::new();
    let mut set = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            parameters.insert(name.to_owned(), value);
        }
    };
    set("provider", Some(json!(model.provider)));
    set(
        "base_url",
        Some(json!(settings.server.base_url.to_string())),
    );
    set("name", Some(json!(model.name)));
    set("digest", model.digest.as_ref().map(|digest| json!(digest)));
    set(
        "temperature",
        settings.temperature.map(|value| json!(value)),
    );
    set("seed", settings.seed.map(|value| json!(value)));
    set("max_tokens", settings.max_tokens.map(|value| json!(value)));
    let effort = settings.reasoning_effort.as_ref();
    set("reasoning_effort", effort.map(|value| json!(value)));
    set("num_ctx", settings.num_ctx.map(|value| json!(value)));
    set("think", settings.think.map(Think::to_json));
    let extra = redacted_fields(&settings.extra_body);
    set("extra_body", (!extra.is_empty()).then(|| json!(extra)));
    parameters
}

impl Think {
    /// The value in Ollama's requests.
    pub(crate) fn to_json(self) -> Value {
        match self {
            Self::Off => json!(false),
            Self::On => json!(true),
            Self::Low => json!("low"),
            Self::Medium => json!("medium"),
            Self::High => json!("high"),
        }
    }
}
