//! Queries of spans, in pydantic-evals' language.

mod error;
mod node;
mod query;
mod reading;

pub use error::SpanQueryError;
pub use query::SpanQuery;
pub(crate) use reading::schema;
