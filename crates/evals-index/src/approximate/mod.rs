//! Approximate search of vectors: its settings, and their values for one index.

mod approximation;
mod kind;
mod settings;

pub use approximation::{Approximation, VectorIndex};
pub use kind::VectorSearchKind;
pub use settings::{VectorSearch, VectorSearchError};
