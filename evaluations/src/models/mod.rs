//! The models that settings name: what each of their settings means, and how a model is opened.

pub(crate) mod embedder;
pub(crate) mod fields;
pub(crate) mod local;
pub(crate) mod reranker;
pub(crate) mod servers;
