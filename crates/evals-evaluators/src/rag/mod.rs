//! Our measures of rankings, citations, refusals and answers, for dataset files.
//!
//! They read outputs in the words of a target's reply ([`output`]) and expectations in the words of a dataset's manifest
//! ([`expectation`]). A measure whose part is missing is undefined, with that reason.

mod citations;
mod decomposed;
mod expectation;
mod graded;
mod judge;
mod named;
mod output;
mod panel;
mod rank_measures;
mod refusal;
#[cfg(test)]
mod tests;

pub use output::documents_listed;
pub use panel::{JudgePool, judge_calls, judge_votes};

use crate::Entry;

/// The evaluators of rankings, citations, refusals and answers.
pub(crate) fn entries() -> Vec<Entry> {
    let mut entries = vec![rank_measures::entry()];
    entries.extend(citations::entries());
    entries.extend([refusal::entry(), judge::entry()]);
    entries.extend(decomposed::entries());
    entries.push(graded::entry());
    entries
}
