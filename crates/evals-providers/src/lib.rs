//! Models behind HTTP servers: Ollama, and every server that speaks `OpenAI`'s protocol. And targets behind servers: services, and `PostgreSQL`.
//!
//! A model is made from its settings and the [`Traffic`] with its server, which all models at one address share. Each failure has a
//! class that says whether another attempt may help, and a message that names the setting to change. No message holds a key.
//!
//! ```
//! use std::sync::Arc;
//!
//! use evals_models::ChatModel;
//! use evals_providers::{
//!     ApiKey, BaseUrl, ChatSettings, OpenAiChat, ServerSettings, Traffic, TrafficSettings,
//! };
//!
//! # fn main() -> Result<(), evals_providers::ConnectError> {
//! let mut server = ServerSettings::new(BaseUrl::parse("https://api.openai.com/v1")?);
//! server.api_key = Some(ApiKey::new("sk-example", "OPENAI_API_KEY")?);
//! let mut settings = ChatSettings::new(server, "gpt-4.1-mini");
//! settings.temperature = Some(0.0);
//! let traffic = Arc::new(Traffic::new("https://api.openai.com/v1", TrafficSettings::default()));
//! let model = OpenAiChat::new(settings, traffic)?;
//! assert_eq!(model.identity().to_string(), "openai:gpt-4.1-mini");
//! # Ok(())
//! # }
//! ```

mod chat;
mod classify;
mod embedding;
mod ollama;
mod openai;
mod postgres;
mod rerank;
mod server;
mod settings;
mod target;
mod tokens;
mod traffic;

pub use embedding::HttpEmbedder;
pub use ollama::{OllamaChat, OllamaModels, OllamaModelsError, PullProgress};
pub use openai::{
    BatchCounts, BatchEvent, BatchHost, BatchSettings, BatchSize, BatchedChat, Concession,
    OpenAiChat, ServedModel, list_openai_models,
};
pub use postgres::{PostgresError, PostgresTarget};
pub use rerank::HttpReranker;
pub use server::{ConnectError, REDACTED, is_credential, redacted_fields};
pub use settings::{
    ApiKey, BaseUrl, ChatSettings, Dimension, EmbedSettings, MaxTokensField, RerankSettings,
    ServerSettings, SettingsError, Think,
};
pub use target::HttpTarget;
pub use traffic::{
    AttemptError, Contact, Delivered, Reach, Traffic, TrafficError, TrafficSettings,
    TrafficStatistics, Watch,
};
