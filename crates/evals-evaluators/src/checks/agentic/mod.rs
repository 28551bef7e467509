//! Evaluators of an agent's steps: its calls of tools and of models.

mod arguments;
mod budget;
mod correctness;
mod steps;
mod trajectory;

use crate::Entry;

/// The entries, in the order of pydantic-evals.
pub(crate) fn entries() -> impl Iterator<Item = Entry> {
    [
        correctness::entry(),
        trajectory::entry(),
        arguments::entry(),
    ]
    .into_iter()
    .chain(budget::entries())
}
