//! `Exec`: an evaluator that is a command, in any language.

mod evaluator;
mod verdicts;

use crate::Entry;

/// The evaluators that are commands.
pub(crate) fn entries() -> Vec<Entry> {
    vec![evaluator::entry()]
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
