//! Rerankers that compare every token of a query with every token of a text: `ColBERT` and its successors.

mod colbert;
mod conventions;
mod marked;
mod max_sim;
mod pylate;
mod reranker;

pub(super) use conventions::is_late_interaction;
pub use reranker::LateInteractionReranker;
