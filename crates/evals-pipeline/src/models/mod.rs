//! The models that the settings name.
//!
//! The settings say what runs a model. `embedder` and `reranker` open the models of these roles, `local` those that run in this process,
//! and `servers` those behind a server.

mod configured;
pub mod embedder;
mod files;
mod local;
pub mod reranker;
mod servers;

pub use self::configured::{
    ConfiguredChat, ConfiguredEmbedder, ConfiguredModel, ConfiguredModels, ConfiguredReranker,
    OVERLAP, RanIn,
};
pub use self::local::LocalModel;
pub use self::servers::{Servers, prompted};
