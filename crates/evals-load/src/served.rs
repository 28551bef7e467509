//! The latencies of a system under load.

use std::panic;
use std::time::Duration;

use evals_metrics::Percentiles;
use serde::{Deserialize, Serialize};
use tokio::task::JoinError;

/// The requests that a system served under a load.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Served {
    /// From the start of the first request to the end of the last, in seconds.
    pub seconds: f64,
    /// The latency of each request in seconds, in no particular order.
    pub latencies: Vec<f64>,
}

impl Served {
    pub(crate) fn new(elapsed: Duration, latencies: Vec<f64>) -> Self {
        Self {
            seconds: elapsed.as_secs_f64(),
            latencies,
        }
    }

    /// How many requests ended.
    pub fn requests(&self) -> usize {
        self.latencies.len()
    }

    /// Requests per second; `None` if no time passed.
    pub fn per_second(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 requests")]
        let requests = self.requests() as f64;
        (self.seconds > 0.0).then(|| requests / self.seconds)
    }

    /// The percentiles of the latencies, in seconds.
    pub fn percentiles(&self) -> Percentiles {
        Percentiles::of(self.latencies.iter().copied())
    }
}

/// The result of a task. Resumes a panic of the system in the caller.
pub(crate) fn ended<T>(task: Result<T, JoinError>) -> T {
    task.unwrap_or_else(|error| match error.try_into_panic() {
        Ok(panic) => panic::resume_unwind(panic),
        Err(_) => unreachable!("a task is only cancelled after the load has returned"),
    })
}
