//! Our measures of rankings, citations, refusals and answers, for dataset files.
//!
//! They read outputs in the words of a target's reply ([`output`]) and expectations in the words of a dataset's manifest
//! ([`expectation`]). A measure whose part is missing is undefined, with that reason.

mod converted;
mod decomposed;
mod estimate;
mod expectation;
mod graded;
mod judge;
mod output;
mod panel;
mod rank_measures;
#[cfg(test)]
mod tests;

pub use estimate::{judge_calls, judge_votes};
pub use output::documents_listed;
pub use panel::JudgePool;

use crate::Entry;

/// The evaluators of rankings, citations, refusals and answers.
pub(crate) fn entries() -> Vec<Entry> {
    let mut entries = vec![rank_measures::entry()];
    entries.extend(converted::entries());
    entries.push(judge::entry());
    entries.extend(decomposed::entries());
    entries.push(graded::entry());
    entries
}
