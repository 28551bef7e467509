//! The stages of a search in a case's report.

use std::mem;

use evals::TaskScope;

use crate::Retrieved;
use crate::call::{self, Purpose};

/// Notes down how long the stages took, those from a cache apart, and the tokens of a reranker. Timings move from the search
/// to the report.
pub(crate) fn record(retrieved: &mut Retrieved, scope: &TaskScope) {
    for timing in mem::take(&mut retrieved.timings) {
        if timing.cached {
            scope.cached_timing(timing.stage, timing.duration);
        } else {
            scope.timing(timing.stage, timing.duration);
        }
    }
    if let Some(usage) = retrieved.usage {
        call::record_usage(usage, Purpose::Reranker, scope);
    }
}
