//! Queries of spans, in pydantic-evals' language.

mod node;
mod query;

pub(crate) use query::schema;
pub use query::{SpanQuery, SpanQueryError};
