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
mod transport;

pub use batch::{
    BatchCounts, BatchEvent, BatchHost, BatchSettings, BatchSize, BatchedChat, RequestKey,
};
pub use chat::OpenAiChat;
pub use dialect::Concession;
pub use embedder::OpenAiEmbedder;
pub use listing::{ServedModel, list_openai_models};
