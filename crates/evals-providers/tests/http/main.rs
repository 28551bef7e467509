//! Models behind a server that misbehaves on request.

mod batches;
mod bodies;
mod engines;
mod faults;
mod guide;
mod models;
mod ollama_chat;
mod ollama_embedder;
mod openai_chat;
mod openai_embedder;
mod pull;
mod rerank;
mod scripted_server;
mod secrets;
mod soak;
mod target;
mod tools;

use std::error::Error;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use evals_models::{ChatRequest, Message, ReplySchema};
use evals_providers::{
    ApiKey, BaseUrl, ChatSettings, EmbedSettings, OllamaChat, OpenAiChat, ServerSettings, Traffic,
    TrafficSettings,
};
use scripted_server::ScriptedServer;

/// The key of every test, which tests search for in output.
const KEY: &str = "sk-7f3a-secret";

/// Traffic that makes as many attempts, without pauses worth waiting for.
fn traffic(attempts: u32) -> Arc<Traffic> {
    let settings = TrafficSettings {
        max_attempts: NonZeroU32::new(attempts).expect("at least one attempt"),
        base_delay: Duration::from_millis(1),
        max_delay: Duration::from_millis(2),
        ..TrafficSettings::default()
    };
    Arc::new(Traffic::new("scripted", settings))
}

fn server(url: &str) -> ServerSettings {
    ServerSettings::new(BaseUrl::parse(url).expect("an address"))
}

fn server_with_key(url: &str) -> ServerSettings {
    ServerSettings {
        api_key: Some(ApiKey::new(KEY, "SCRIPTED_KEY").expect("a key")),
        ..server(url)
    }
}

fn chat_settings(url: &str) -> ChatSettings {
    ChatSettings::new(server(url), "scripted")
}

fn embed_settings(url: &str) -> EmbedSettings {
    EmbedSettings::new(server(url), "scripted")
}

fn openai(scripted: &ScriptedServer, attempts: u32) -> OpenAiChat {
    let settings = chat_settings(&scripted.openai_url());
    OpenAiChat::new(settings, traffic(attempts)).expect("sound settings")
}

async fn ollama(scripted: &ScriptedServer, attempts: u32) -> OllamaChat {
    let settings = chat_settings(&scripted.ollama_url());
    OllamaChat::connect(settings, traffic(attempts))
        .await
        .expect("a server with this model")
}

fn question() -> ChatRequest {
    ChatRequest::new(vec![
        Message::system("Answer in one word."),
        Message::user("What is the capital of France?"),
    ])
}

fn verdict() -> ReplySchema {
    ReplySchema {
        name: "verdict".to_owned(),
        schema: serde_json::json!({
            "type": "object",
            "properties": {"reason": {"type": "string"}, "pass": {"type": "boolean"}},
            "required": ["reason", "pass"],
            "additionalProperties": false,
        }),
    }
}

/// An error with everything that it stems from, as the command line prints it.
fn chain(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}
