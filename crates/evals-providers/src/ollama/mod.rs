//! Ollama's own protocol, which tells more than its `OpenAI`-compatible one: digests, lengths of context, why a reply ends.

mod catalog;
mod chat;
mod embedder;
mod reply;
mod request;
mod window;

pub use chat::OllamaChat;
pub use embedder::OllamaEmbedder;
