//! Test sets from documents: questions that a model writes, each with the span of a document that answers it.

mod item;

pub use item::{DropReason, Dropped, Item, Kind};
