//! The settings: their types and defaults, and how layers of settings become one value.
//!
//! The layers, weakest first, are the built-in defaults, the dataset's `settings`, the settings file, and `--set`. Each is a
//! [`Tree`] that remembers where every key was written, so that an error can name file, line and key.

mod error;
mod file;
#[cfg(test)]
mod fuzz;
mod haiku;
mod judges;
mod known;
mod layer;
mod model;
mod overlay;
pub mod redaction;
mod resolve;
mod sections;
mod store;
mod withheld;

pub use error::SettingsError;
pub use evals_yaml::Tree;
pub use file::SettingsFile;
pub use judges::{PanelSettings, RubricSettings};
pub use layer::Layer;
pub use model::{
    ChatKind, Connection, Dtype, EMBEDDED, Effort, EmbeddedEmbedderSettings, EmbedderKind,
    LocalEmbedderSettings, LocalRerankerSettings, LocalSettings, Model, ModelKind, NoSettings,
    OllamaChatSettings, OllamaEmbedderSettings, OpenAiChatSettings, OpenAiEmbedderSettings,
    Pooling, Protocol, RerankPrompt, RerankerKind, Role, Sampling, TextSettings, Think,
};
pub use resolve::{Resolved, resolve};
pub use sections::{
    Agent, Batch, Embeddings, Evaluations, Fusion, FusionMethod, Price, Processing, Provider, Qa,
    QaMode, RERANK, RerankMode, Reranking, Search, Settings, json_schema,
};
pub use store::{StoreSection, StoreValue};
