//! Opens the models of a run: with their caches, prompts and meters.

pub(crate) mod embedder;
mod opener;
mod prompts;
pub(crate) mod reranker;

pub(crate) use self::opener::{Opener, cache_policy};
pub(crate) use self::prompts::{FoundPrompt, Prompts};
pub(crate) use self::reranker::check as check_reranker;
