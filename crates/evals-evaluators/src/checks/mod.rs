//! Evaluators that ask no model.

mod agentic;
mod check;
mod closure;
mod containment;
mod duration;
mod equality;
mod instance;
mod json_schema;
mod long;
mod matching_span;
mod regex;
mod similarity;

pub(crate) use agentic::entries as agentic;
pub(crate) use matching_span::entry as matching_span;

use crate::Entry;

/// The evaluators of pydantic-evals that look at an output alone.
pub(crate) fn of_outputs() -> Vec<Entry> {
    let mut entries = Vec::from(equality::entries());
    entries.extend([containment::entry(), instance::entry(), duration::entry()]);
    entries
}

/// Those that pydantic-evals does not have.
pub(crate) fn further() -> Vec<Entry> {
    let mut entries = Vec::from(similarity::entries());
    entries.extend([regex::entry(), json_schema::entry()]);
    entries
}
