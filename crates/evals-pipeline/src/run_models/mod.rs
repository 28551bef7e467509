//! Opens the models of a run: with their caches, prompts and meters.

pub mod embedder;
mod opener;
mod prompts;
pub mod reranker;

pub(crate) use self::opener::{Opener, cache_policy};
pub use self::prompts::{FoundPrompt, Prompts};
pub(crate) use self::reranker::check as check_reranker;
