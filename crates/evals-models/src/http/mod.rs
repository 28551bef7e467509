//! Models behind HTTP servers.

mod api_key;
mod attempt;
mod base_url;
mod batches;
mod classify;
mod embedding;
mod error_body;
mod extra_body;
mod ollama;
mod openai;
mod parameters;
mod reasoning;
mod retry_after;
mod said;
mod server;
mod server_error;
mod settings;
mod settings_error;
mod tokens;
mod traffic;
mod vectors;

pub use api_key::ApiKey;
pub use attempt::AttemptError;
pub use base_url::BaseUrl;
pub use ollama::{OllamaChat, OllamaEmbedder};
pub use openai::{Concession, OpenAiChat, OpenAiEmbedder};
pub use settings::{ChatSettings, Dimension, EmbedSettings, MaxTokensField, ServerSettings, Think};
pub use settings_error::{ConnectError, SettingsError};
pub use traffic::{Delivered, Traffic, TrafficError, TrafficSettings, TrafficStatistics, Watch};
