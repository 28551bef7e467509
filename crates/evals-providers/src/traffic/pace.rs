//! How many requests and tokens a minute may be sent.

use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::call::later;
use super::settings::TrafficSettings;

/// The pace at which attempts may be sent.
#[derive(Debug)]
pub(super) struct TrafficPace {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

impl TrafficPace {
    pub(super) fn new(settings: &TrafficSettings) -> Self {
        Self {
            requests: settings.requests_per_minute.map(Bucket::new),
            tokens: settings.tokens_per_minute.map(Bucket::new),
        }
    }

    /// Waits until an attempt of that many tokens may be sent.
    pub(super) async fn admit(&self, tokens: u64) {
        if let Some(bucket) = &self.requests {
            bucket.take(1).await;
        }
        if let Some(bucket) = &self.tokens {
            bucket.take(tokens).await;
        }
    }
}

/// A token bucket that fills evenly over a minute and holds the share of one second, at least 1. A call larger than the bucket waits for
/// its full amount.
///
/// A bucket that held the share of a minute would let twice the limit through in the first minute.
#[derive(Debug)]
struct Bucket {
    /// The time in which one token flows in.
    interval: Duration,
    /// The time in which an empty bucket fills.
    filling: Duration,
    /// When the bucket is full again.
    full: Mutex<Instant>,
}

impl Bucket {
    fn new(per_minute: NonZeroU32) -> Self {
        let interval = Duration::from_mins(1) / per_minute.get();
        let capacity = (per_minute.get() / 60).max(1);
        Self {
            interval,
            filling: interval * capacity,
            full: Mutex::new(Instant::now()),
        }
    }

    async fn take(&self, amount: u64) {
        let amount = u32::try_from(amount).unwrap_or(u32::MAX);
        let inflow = self.interval.saturating_mul(amount);
        let full = {
            let mut full = self.full.lock().unwrap_or_else(PoisonError::into_inner);
            *full = later((*full).max(Instant::now()), inflow);
            *full
        };
        if let Some(due) = full.checked_sub(self.filling) {
            sleep_until(due).await;
        }
    }
}
