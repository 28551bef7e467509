//! The body of a request for a reply.

use ollama_rs::generation::chat::ChatMessage;
use ollama_rs::generation::chat::request::ChatMessageRequest;
use ollama_rs::models::ModelOptions;
use serde_json::{Map, Value, json};

use super::window::Window;
use crate::{ChatSettings, Think, extra_body};
use evals_models::{ChatRequest, Message, Role};

/// Fields that `extra_body` may not set: the program fills them, and could not read what other values bring.
pub(super) const RESERVED: [&str; 5] = ["messages", "model", "stream", "truncate", "shift"];

/// Of `options` those that have settings of their own, which the size of the window goes by.
pub(super) const RESERVED_OPTIONS: [&str; 2] = ["options.num_ctx", "options.num_predict"];

/// The body of a request.
pub(super) fn body(
    settings: &ChatSettings,
    request: &ChatRequest,
    window: Window,
) -> Result<Value, serde_json::Error> {
    let messages = request.messages.iter().map(message).collect();
    let options = ModelOptions::default().num_ctx(window.size);
    let typed = ChatMessageRequest::new(settings.model.clone(), messages).options(options);
    let mut body: Map<String, Value> = serde_json::from_value(serde_json::to_value(typed)?)?;
    body.insert("stream".to_owned(), json!(false));
    // Newer servers then refuse a prompt that is too long, and end a reply where the window does; older ones ignore both.
    body.insert("truncate".to_owned(), json!(false));
    body.insert("shift".to_owned(), json!(false));
    if let Some(schema) = &request.schema {
        body.insert("format".to_owned(), schema.schema.clone());
    }
    if let Some(think) = settings.think {
        body.insert("think".to_owned(), Think::to_json(think));
    }
    if let Some(duration) = &settings.keep_alive {
        body.insert("keep_alive".to_owned(), keep_alive(duration));
    }
    let mut sampling = Map::new();
    // Not through `ModelOptions`, where 0.3 would become the nearest of 32 bits.
    if let Some(temperature) = settings.temperature {
        sampling.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(seed) = settings.seed {
        sampling.insert("seed".to_owned(), json!(seed));
    }
    // Always said, because a server that is told nothing writes on past the end of the window.
    let budget = request.max_tokens.or(settings.max_tokens);
    let budget = budget.map_or(u64::MAX, |budget| u64::from(budget.get()));
    sampling.insert("num_predict".to_owned(), json!(budget.min(window.room())));
    let sampling = Map::from_iter([("options".to_owned(), Value::Object(sampling))]);
    extra_body::merge(&mut body, &sampling);
    extra_body::merge(&mut body, &settings.extra_body);
    Ok(Value::Object(body))
}

/// A number is seconds, and anything else a duration such as `5m`, which has to be a string.
pub(super) fn keep_alive(duration: &str) -> Value {
    match duration.parse::<i64>() {
        Ok(seconds) => json!(seconds),
        Err(_) => json!(duration),
    }
}

fn message(message: &Message) -> ChatMessage {
    let content = message.content.clone();
    match message.role {
        Role::System => ChatMessage::system(content),
        Role::User => ChatMessage::user(content),
        Role::Assistant => ChatMessage::assistant(content),
    }
}
