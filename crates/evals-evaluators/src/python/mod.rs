//! Python's rules for JSON values, where the evaluators of pydantic-evals show them: equality, and how values are printed.

mod equality;
mod timedelta;
mod type_name;

pub(crate) use equality::equal;
pub(crate) use timedelta::TimeDelta;
pub(crate) use type_name::type_name;
