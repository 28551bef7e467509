//! `Exec`: an evaluator that is a command, in any language.

mod evaluator;
mod verdicts;

pub(crate) use evaluator::entry;

#[cfg(test)]
#[cfg(unix)]
mod tests;
