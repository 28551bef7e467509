//! Python's rules for JSON values, where the evaluators of pydantic-evals show them: equality, and how values are printed.

mod equality;
mod json_error;
mod pattern;
mod repr;
mod timedelta;
mod type_name;

pub(crate) use equality::equal;
pub(crate) use json_error::json_error;
pub(crate) use pattern::{Pattern, PatternError, Place};
pub(crate) use repr::{repr, repr_text, repr_texts, text, truncated};
pub(crate) use timedelta::TimeDelta;
pub(crate) use type_name::type_name;
