//! Turns panics of the parquet library into errors about the file.

use evals_guard::panics::{Panicked, caught};
use thiserror::Error;

/// A library gave up by a panic.
#[derive(Debug, Error)]
#[error("the file is damaged ({0})")]
pub(crate) struct Damaged(Panicked);

/// Does the work; a panic in it becomes an error and is not printed. Do not use afterwards what the work changed.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Damaged> {
    caught(work).map_err(Damaged)
}
