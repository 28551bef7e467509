//! A table of vectors without texts, to measure searches.

mod collection;
mod writer;

pub use collection::{VectorCollection, VectorNeighbour};
pub use writer::VectorWriter;
