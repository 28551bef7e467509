//! A run with its baseline.

use crate::{GateCheck, Snapshot};

/// A run with its baseline.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'s> {
    /// The run.
    pub run: &'s Snapshot,
    /// The baseline, if there is one.
    pub baseline: Option<&'s Snapshot>,
    /// Checks of the caller's own rules, such as of the agreement of the judge with people. They count as those of the gate.
    pub checks: &'s [GateCheck],
}
