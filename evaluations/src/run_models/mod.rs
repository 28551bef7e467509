//! The models of a run: opened with their caches, metered, and with the prompts that they are asked by.

pub(crate) mod embedder;
mod opener;
mod prompts;
pub(crate) mod reranker;

pub(crate) use self::opener::{Opener, cache_policy};
pub(crate) use self::prompts::Prompts;
pub(crate) use self::reranker::check as check_reranker;
