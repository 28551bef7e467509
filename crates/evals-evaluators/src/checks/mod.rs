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

use crate::Entry;

/// The evaluators that ask no model.
pub(crate) fn entries() -> Vec<Entry> {
    let mut entries = Vec::from(equality::entries());
    entries.extend([containment::entry(), instance::entry(), duration::entry()]);
    entries.push(matching_span::entry());
    entries.extend(agentic::entries());
    entries.extend(similarity::entries());
    entries.extend([regex::entry(), json_schema::entry()]);
    entries
}
