//! How many requests and tokens a minute may be sent.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::time::{Instant, sleep};

use super::settings::TrafficSettings;

/// The pace at which attempts may be sent.
#[derive(Debug)]
pub(super) struct Pace {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

impl Pace {
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

/// A token bucket that fills evenly over a minute and holds the share of one second, at least 1.
///
/// A bucket that held the share of a minute would let twice the limit through in the first minute.
#[derive(Debug)]
struct Bucket {
    limiter: RateLimiter<NotKeyed, InMemoryState, RuntimeClock, NoOpMiddleware<Duration>>,
    clock: RuntimeClock,
    capacity: NonZeroU32,
}

impl Bucket {
    fn new(per_minute: NonZeroU32) -> Self {
        let clock = RuntimeClock(Instant::now());
        let capacity = NonZeroU32::new(per_minute.get() / 60).unwrap_or(NonZeroU32::MIN);
        Self {
            limiter: RateLimiter::direct_with_clock(
                Quota::per_minute(per_minute).allow_burst(capacity),
                clock.clone(),
            ),
            clock,
            capacity,
        }
    }

    /// Takes that many tokens, in portions that the bucket can hold, so that a call larger than the bucket waits for its full amount.
    async fn take(&self, mut amount: u64) {
        while amount > 0 {
            let portion = u32::try_from(amount)
                .ok()
                .and_then(NonZeroU32::new)
                .map_or(self.capacity, |amount| amount.min(self.capacity));
            self.take_portion(portion).await;
            amount -= u64::from(portion.get());
        }
    }

    async fn take_portion(&self, portion: NonZeroU32) {
        while let Err(refused) = self
            .limiter
            .check_n(portion)
            .expect("a portion is at most what the bucket holds")
        {
            sleep(refused.wait_time_from(self.clock.now())).await;
        }
    }
}

/// The runtime's clock, which tests can stop, as the time since its creation.
#[derive(Clone, Debug)]
struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}
