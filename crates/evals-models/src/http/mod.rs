//! Models behind HTTP servers.

mod api_key;
mod attempt;
mod base_url;
mod classify;
mod error_body;
mod extra_body;
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

pub use api_key::ApiKey;
pub use attempt::AttemptError;
pub use base_url::BaseUrl;
pub use openai::{Concession, OpenAiChat};
pub use settings::{ChatSettings, Dimension, EmbedSettings, MaxTokensField, ServerSettings, Think};
pub use settings_error::{ConnectError, SettingsError};
pub use traffic::{Delivered, Traffic, TrafficError, TrafficSettings, TrafficStatistics, Watch};
