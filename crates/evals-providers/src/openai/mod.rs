//! Servers that speak `OpenAI`'s protocol: `OpenAI`, vLLM, llama.cpp, TGI, LM Studio, `OpenRouter`, Groq and others.

mod chat;
mod dialect;
mod embedder;
#[cfg(test)]
mod fuzz;
mod reply;
mod request;
mod service;
mod stream;

pub use chat::OpenAiChat;
pub use dialect::Concession;
pub use embedder::OpenAiEmbedder;

use async_openai::Client;
use async_openai::config::OpenAIConfig;

use super::body::Expected;
use super::server::Server;
use service::Transport;

/// The client of `async-openai` for a server: it knows addresses, headers and types, the transport does the rest.
fn client(server: &Server, expected: Expected) -> Client<OpenAIConfig> {
    let settings = server.settings();
    let key = settings.api_key.as_ref();
    let config = OpenAIConfig::new()
        .with_api_base(settings.base_url.to_string())
        .with_api_key(key.map_or("", super::ApiKey::expose))
        // The crate takes these from the environment, and they are nobody's business but OpenAI's.
        .with_org_id("")
        .with_project_id("");
    let transport = Transport {
        server: server.clone(),
        expected,
    };
    Client::build(server.client().clone(), config).with_http_service(transport)
}
