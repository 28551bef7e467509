//! The stages of a search in a case's report.

use evals::{TaskScope, Timing};

/// Notes down how long the stages took, those from a cache apart.
pub(crate) fn record(timings: Vec<Timing>, scope: &TaskScope) {
    for timing in timings {
        if timing.cached {
            scope.cached_timing(timing.stage, timing.duration);
        } else {
            scope.timing(timing.stage, timing.duration);
        }
    }
}
