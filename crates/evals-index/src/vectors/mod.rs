//! Vectors in a table of their own, whose searches are measured.

mod collection;
mod exact;
mod numbers;
mod writer;

pub use collection::{VectorCollection, VectorNeighbour};
pub use writer::VectorWriter;
