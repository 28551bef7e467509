//! The body of a request for a reply.

use async_openai::types::chat::{
    ChatCompletionRequestAssistantMessage, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestUserMessage,
    CreateChatCompletionRequest,
};
use serde_json::{Map, Value, json};

use super::dialect::{Dialect, Format};
use crate::{ChatSettings, extra_body};
use evals_models::{ChatRequest, Message, ReplySchema, Role};

/// Fields that `extra_body` may not set: the program fills them, and could not read what other values bring.
pub(super) const RESERVED: [&str; 5] = ["messages", "model", "stream", "stream_options", "n"];

/// The body of a request as the server takes it.
///
/// `stream` is always said to be off, because a server that is told nothing may think otherwise.
pub(super) fn body(
    settings: &ChatSettings,
    request: &ChatRequest,
    dialect: Dialect,
) -> Result<Value, serde_json::Error> {
    let typed = CreateChatCompletionRequest {
        model: settings.model.clone(),
        messages: request.messages.iter().map(message).collect(),
        stream: Some(false),
        ..CreateChatCompletionRequest::default()
    };
    let mut body: Map<String, Value> = serde_json::from_value(serde_json::to_value(typed)?)?;
    // Numbers are set here and not above, where 0.3 would become the nearest of 32 bits, and effort one of a fixed list.
    let mut set = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(field.to_owned(), value);
        }
    };
    let schema = request.schema.as_ref();
    set(
        "response_format",
        schema.and_then(|schema| response_format(schema, dialect.format)),
    );
    let temperature = settings.temperature.filter(|_| dialect.takes.temperature);
    set("temperature", temperature.map(|value| json!(value)));
    let seed = settings.seed.filter(|_| dialect.takes.seed);
    set("seed", seed.map(|value| json!(value)));
    let budget = request.max_tokens.or(settings.max_tokens);
    set(dialect.max_tokens_field, budget.map(|value| json!(value)));
    let effort = settings.reasoning_effort.as_ref();
    let effort = effort.filter(|_| dialect.takes.effort);
    set("reasoning_effort", effort.map(|value| json!(value)));
    extra_body::merge(&mut body, &settings.extra_body);
    Ok(Value::Object(body))
}

fn message(message: &Message) -> ChatCompletionRequestMessage {
    let content = message.content.as_str();
    match message.role {
        Role::System => ChatCompletionRequestSystemMessage::from(content).into(),
        Role::User => ChatCompletionRequestUserMessage::from(content).into(),
        Role::Assistant => ChatCompletionRequestAssistantMessage::from(content).into(),
    }
}

fn response_format(schema: &ReplySchema, format: Format) -> Option<Value> {
    match format {
        Format::Schema => Some(json!({
            "type": "json_schema",
            "json_schema": {"name": schema.name, "schema": schema.schema, "strict": true},
        })),
        Format::SchemaInObject => Some(json!({"type": "json_object", "schema": schema.schema})),
        Format::JsonObject => Some(json!({"type": "json_object"})),
        Format::Unheld => None,
    }
}
