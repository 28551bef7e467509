//! Late interaction: rerankers that compare every token of a query with every token of a text, as `ColBERT` does.

mod colbert;
mod conventions;
mod layout;
mod marked;
mod max_sim;
mod pylate;
mod reranker;
mod special_tokens;

pub(crate) use layout::is_late_interaction;
pub use reranker::LateInteractionReranker;
