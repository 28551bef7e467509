//! Callers who wait for each reply before they send the next request.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::Served;
use crate::served::ended;

/// A number of callers who each send the next request when they have the reply to the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedLoop {
    /// The number of callers, which is also the largest number of requests in flight. Default 1.
    pub callers: NonZeroUsize,
    /// How long the callers send new requests. Default 1 s. They then wait for the requests in flight.
    pub time: Duration,
    /// The callers send at least so many requests, however long that takes. Default 0.
    pub least: usize,
    /// After how many requests the load ends, even if time is left. Default: no limit.
    pub most: usize,
}

impl Default for ClosedLoop {
    fn default() -> Self {
        Self {
            callers: NonZeroUsize::MIN,
            time: Duration::from_secs(1),
            least: 0,
            most: usize::MAX,
        }
    }
}

impl ClosedLoop {
    /// Loads the system. The latency of a request counts from the time at which its caller sends it. Returns the first failure, and then
    /// drops the other callers.
    pub async fn run<C, F, E>(self, call: C) -> Result<Served, E>
    where
        C: Fn(usize) -> F + Clone + Send + 'static,
        F: Future<Output = Result<(), E>> + Send,
        E: Send + 'static,
    {
        let began = Arc::new(AtomicUsize::new(0));
        let started = Instant::now();
        let mut callers = JoinSet::new();
        for _ in 0..self.callers.get() {
            let (call, began) = (call.clone(), Arc::clone(&began));
            callers.spawn(async move {
                let mut latencies = Vec::new();
                loop {
                    let number = began.fetch_add(1, Ordering::Relaxed);
                    let is_over = number >= self.least && started.elapsed() >= self.time;
                    if is_over || number >= self.most {
                        return Ok(latencies);
                    }
                    let sent = Instant::now();
                    call(number).await?;
                    latencies.push(sent.elapsed().as_secs_f64());
                }
            });
        }
        let mut latencies = Vec::new();
        while let Some(caller) = callers.join_next().await {
            latencies.extend(ended(caller)?);
        }
        Ok(Served::new(started.elapsed(), latencies))
    }
}
