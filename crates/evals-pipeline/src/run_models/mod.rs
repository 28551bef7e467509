//! Opens the models of a run: with their caches, prompts and meters.

pub mod embedder;
mod opener;
mod prompted;
mod prompts;
pub mod reranker;
pub mod rewriter;
mod usage;
pub(crate) mod user;

pub(crate) use self::opener::{Opener, cache_policy};
pub(crate) use self::prompted::Prompted;
pub use self::prompts::{FoundPrompt, Prompts};
pub(crate) use self::reranker::check as check_reranker;
pub(crate) use self::rewriter::check as check_rewriter;
pub(crate) use self::usage::cost;
