//! Servers that speak `OpenAI`'s protocol: `OpenAI`, vLLM, llama.cpp, TGI, LM Studio, `OpenRouter`, Groq and others.

mod batch;
mod chat;
mod dialect;
mod embedder;
#[cfg(test)]
mod fuzz;
mod listing;
mod reply;
mod request;
mod stream;

pub use batch::{BatchCounts, BatchEvent, BatchHost, BatchSettings, BatchSize, BatchedChat};
pub use chat::OpenAiChat;
pub use dialect::Concession;
pub use listing::{ServedModel, list_openai_models};
