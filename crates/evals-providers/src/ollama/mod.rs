//! Ollama's own protocol. It says more than Ollama's `OpenAI`-compatible one: digests, context lengths, why a reply ended.

mod catalog;
mod chat;
mod embedder;
mod models;
mod reply;
mod request;
mod window;

pub use chat::OllamaChat;
pub use models::{OllamaModels, OllamaModelsError, PullProgress};
