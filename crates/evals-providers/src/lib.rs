//! Models behind HTTP servers: Ollama, and everything that speaks `OpenAI`'s protocol.
//!
//! A model is made from its settings and the [`Traffic`] with its provider, which all models at one address share. Failures come
//! back classed by what may be done about them, and say which setting mends them; none of them, and nothing else that is shown,
//! holds a key.
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

mod api_key;
mod attempt;
mod base_url;
mod batches;
mod body;
mod caller;
mod classify;
mod embedding;
mod error_body;
mod extra_body;
#[cfg(test)]
mod fuzz;
mod models;
mod ollama;
mod openai;
mod parameters;
mod reasoning;
mod rerank;
mod retry_after;
mod said;
mod secrets;
mod server;
mod server_error;
mod settings;
mod settings_error;
mod tokens;
mod tokens_read;
mod traffic;
mod vectors;

pub use api_key::ApiKey;
pub use attempt::{AttemptError, Reach};
pub use base_url::BaseUrl;
pub use models::{ServedModel, list_ollama_models, list_openai_models};
pub use ollama::{OllamaChat, OllamaEmbedder};
pub use openai::{Concession, OpenAiChat, OpenAiEmbedder};
pub use rerank::HttpReranker;
pub use secrets::{REDACTED, is_credential, redacted_fields};
pub use settings::{
    ChatSettings, Dimension, EmbedSettings, MaxTokensField, RerankSettings, ServerSettings, Think,
};
pub use settings_error::{ConnectError, SettingsError};
pub use traffic::{Delivered, Traffic, TrafficError, TrafficSettings, TrafficStatistics, Watch};
