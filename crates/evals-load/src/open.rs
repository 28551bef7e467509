//! Requests at a fixed rate, independent of the replies.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::served::ended;
use crate::{Pace, Served};

/// Requests that are due at a fixed rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenLoop {
    /// Requests per second; more than 0.
    pub rate: f64,
    /// The number of requests.
    pub requests: usize,
    /// The most requests in flight. The others wait for their turn, and this wait is part of their latency. The limit bounds the memory
    /// if the rate is higher than the system can serve.
    pub in_flight: NonZeroUsize,
}

impl OpenLoop {
    /// The default of [`in_flight`](Self::in_flight).
    pub const IN_FLIGHT: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not 0");

    /// A load of this many requests per second for about this long, with at least one request.
    pub fn lasting(rate: f64, time: Duration) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a number of requests, which saturates"
        )]
        let requests = (rate * time.as_secs_f64()).round() as usize;
        Self {
            rate,
            requests: requests.max(1),
            in_flight: Self::IN_FLIGHT,
        }
    }

    /// Loads the system. The latency of a request counts from the time at which it was due. Returns the first failure, and then drops the
    /// other requests.
    pub async fn run<C, F, E>(self, mut pace: impl Pace, call: C) -> Result<Served, E>
    where
        C: Fn(usize) -> F,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Send + 'static,
    {
        let turns = Arc::new(Semaphore::new(self.in_flight.get()));
        let started = Instant::now();
        let mut requests = JoinSet::new();
        let mut latencies = Vec::with_capacity(self.requests);
        for number in 0..self.requests {
            let due = started + self.due(number);
            pace.wait_until(due).await;
            // A late turn changes no latency, since it counts from when the request was due.
            let turn = Arc::clone(&turns).acquire_owned().await;
            while let Some(request) = requests.try_join_next() {
                latencies.push(ended(request)?);
            }
            let request = call(number);
            requests.spawn(async move {
                let _turn = turn.expect("the semaphore stays open");
                request.await?;
                Ok(due.elapsed().as_secs_f64())
            });
        }
        while let Some(request) = requests.join_next().await {
            latencies.push(ended(request)?);
        }
        Ok(Served::new(started.elapsed(), latencies))
    }

    /// When a request is due, after the start.
    fn due(self, number: usize) -> Duration {
        #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 requests")]
        let number = number as f64;
        Duration::from_secs_f64(number / self.rate)
    }
}
