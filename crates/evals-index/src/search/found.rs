use std::time::Duration;

use super::hit::Hit;

/// The best chunks of one search, or of several that were fused.
#[derive(Debug)]
pub(super) struct Found {
    /// In the order of [`hit::sort`](super::hit::sort).
    pub(super) hits: Vec<Hit>,
    /// Whether a greater depth would find no more.
    pub(super) exhausted: bool,
    /// How long the search took, or the fusion.
    pub(super) duration: Duration,
}

impl Found {
    /// The result of a question that has nothing to search for.
    pub(super) fn nothing() -> Self {
        Self {
            hits: Vec::new(),
            exhausted: true,
            duration: Duration::ZERO,
        }
    }
}
