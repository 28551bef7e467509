//! The settings: their types and defaults, and how layers of settings become one value.
//!
//! The layers, weakest first, are the built-in defaults, the dataset's `settings`, the settings file, and `--set`. Each is a
//! [`Tree`] that remembers where every key was written, so that an error can name file, line and key.
//!
//! ```
//! use evals_settings::{Layer, Tree, resolve};
//!
//! let file = Layer::new("evaluations.yaml", Tree::parse("search:\n  limit: 3\n")?);
//! let option = Layer::assignments(&["search.profile=bm25".to_owned()])?;
//! let resolved = resolve([Some(file), option].into_iter().flatten().collect())?;
//! assert_eq!(resolved.settings.search.limit.get(), 3);
//! assert_eq!(resolved.settings.search.profile, "bm25");
//!
//! let wrong = Layer::new("evaluations.yaml", Tree::parse("search:\n  limit: many\n")?);
//! let error = resolve(vec![wrong]).unwrap_err().to_string();
//! assert!(error.starts_with("evaluations.yaml:2: bad value for `search.limit`"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod file;
#[cfg(test)]
mod fuzz;
mod haiku;
mod judges;
mod known;
mod layer;
mod model;
pub mod redaction;
mod resolve;
mod sections;
mod store;
mod tune;
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
    Agent, Batch, ByModel, Conversations, Embeddings, Evaluations, Fusion, FusionMethod, Price,
    Processing, Provider, Qa, QaMode, RERANK, RerankMode, Reranking, Search, SearchHistory,
    Settings, json_schema,
};
pub use store::{StoreSection, StoreValue};
pub use tune::{Amount, Knob, Tune, TuneBudget};
