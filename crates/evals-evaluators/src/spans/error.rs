//! Mistakes in a query of spans.

use serde_json::Value;
use thiserror::Error;

use crate::python::PatternError;

/// Why a query of spans cannot be read or answered.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpanQueryError {
    /// A value is of the wrong type.
    #[error("`{place}` must be {wanted}, not `{given}`")]
    Value {
        /// The keys that lead to the value, joined by points.
        place: String,
        /// The kind of value that it has to be.
        wanted: &'static str,
        /// The value that it is.
        given: Value,
    },
    /// No condition has this name.
    #[error("`{place}` has no condition `{condition}`{hint}")]
    Unknown {
        /// The keys that lead to the query.
        place: String,
        /// The name.
        condition: String,
        /// Names like it.
        hint: String,
    },
    /// `or_` stands beside other conditions.
    #[error("`{place}.or_` must stand alone; move it into the list of an `and_`")]
    OrIsNotAlone {
        /// The keys that lead to the query.
        place: String,
    },
    /// A regular expression cannot be read, or takes too many steps for a span's name.
    #[error("{place}{source}")]
    Pattern {
        /// The keys that lead to it, with a colon; empty if it was read.
        place: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl From<PatternError> for SpanQueryError {
    fn from(error: PatternError) -> Self {
        Self::Pattern {
            place: String::new(),
            source: error.into(),
        }
    }
}
