//! Counts of attempts, retries and waiting.

use std::time::Duration;

/// What passed through a provider's traffic so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficStatistics {
    /// Attempts sent, whatever became of them.
    pub attempts: u64,
    /// Attempts that were not the first of their call.
    pub retries: u64,
    /// Attempts that met an overloaded server.
    pub overloads: u64,
    /// Attempts that were sent and brought no answer: timed out, or broken off. The server may have made one all the same, so that
    /// their cost is not known.
    pub unanswered: u64,
    /// How many calls may be open at once now.
    pub limit: usize,
    /// How long calls waited in all: in the queue, for the pace, and between attempts.
    pub waited: Duration,
}
