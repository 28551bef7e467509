//! Queries of spans, in pydantic-evals' language.

mod node;
mod query;
mod reading;

pub use query::SpanQuery;
pub use reading::SpanQueryError;
pub(crate) use reading::schema;
