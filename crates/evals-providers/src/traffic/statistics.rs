//! Counts of attempts, retries and waiting.

use std::time::Duration;

/// Counts of a provider's traffic so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficStatistics {
    /// Attempts sent, successful or not.
    pub attempts: u64,
    /// Attempts that were not the first of their call.
    pub retries: u64,
    /// Attempts that met an overloaded server.
    pub overloads: u64,
    /// Attempts that were sent and got no answer: timed out, or the connection was lost. The server may charge for them, so their cost
    /// is unknown.
    pub unanswered: u64,
    /// How many calls may be open at once now.
    pub limit: usize,
    /// The total time that calls waited: in the queue, for the pace, and between attempts.
    pub waited: Duration,
}
