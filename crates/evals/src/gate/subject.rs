//! A run with its baseline.

use crate::Snapshot;

/// A run with its baseline.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// The run.
    pub run: &'s Snapshot,
    /// The baseline, if there is one.
    pub baseline: Option<&'s Snapshot>,
}
