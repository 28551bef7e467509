//! How many calls, how fast, how many attempts, and the pauses between these.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The limits of the traffic with a provider: calls at once, pace, retries and deadlines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficSettings {
    /// The most calls at once. If set, the traffic starts there, so that the provider is used fully from the first call. Default:
    /// `None`, which starts at `start_concurrency` and grows to `grown_concurrency`.
    pub max_concurrency: Option<NonZeroUsize>,
    /// Calls at once at the start if `max_concurrency` is not set. Default: 8; 4 in [`Self::ollama`].
    pub start_concurrency: NonZeroUsize,
    /// The most calls at once if `max_concurrency` is not set. Default: [`Self::GROWN_CONCURRENCY`]; in [`Self::ollama`] the number at
    /// the start, because Ollama never reports an overload.
    pub grown_concurrency: NonZeroUsize,
    /// The most attempts a minute, paced evenly: those of one second may be sent together. Default: no limit.
    pub requests_per_minute: Option<NonZeroU32>,
    /// The most tokens a minute by the callers' estimates, paced evenly as above. Default: no limit.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// The most attempts of one call, the first included. Attempts that find the server away do not count. Default: 6.
    pub max_attempts: NonZeroU32,
    /// The longest pause before the first retry. It doubles with each retry; the actual pause is drawn between zero and it. Default:
    /// 0.5 s.
    pub base_delay: Duration,
    /// The limit of the doubling. Default: 30 s.
    pub max_delay: Duration,
    /// The longest pause that a server may ask for. If it asks for more, all calls fail. Default: 120 s.
    pub retry_after_cap: Duration,
    /// The longest that an attempt may take if its model has no timeout of its own. Default: 300 s.
    pub request_deadline: Duration,
    /// The longest that a call may take from its first attempt on, with pauses and retries. The wait for its first turn does not
    /// count. Default: 900 s.
    pub call_deadline: Duration,
    /// Seed of the pauses. Default: 0.
    pub seed: u64,
}

impl TrafficSettings {
    /// The most calls at once if `max_concurrency` is not set.
    pub const GROWN_CONCURRENCY: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not zero");

    /// The defaults for Ollama, which answers few calls at once and queues the others.
    pub fn ollama() -> Self {
        Self {
            start_concurrency: NonZeroUsize::new(4).expect("4 is not zero"),
            grown_concurrency: NonZeroUsize::new(4).expect("4 is not zero"),
            ..Self::default()
        }
    }
}

impl Default for TrafficSettings {
    fn default() -> Self {
        Self {
            max_concurrency: None,
            start_concurrency: NonZeroUsize::new(8).expect("8 is not zero"),
            grown_concurrency: Self::GROWN_CONCURRENCY,
            requests_per_minute: None,
            tokens_per_minute: None,
            max_attempts: NonZeroU32::new(6).expect("6 is not zero"),
            base_delay: Duration::from_millis(500),
            max_delay: Duration::from_secs(30),
            retry_after_cap: Duration::from_mins(2),
            request_deadline: Duration::from_mins(5),
            call_deadline: Duration::from_mins(15),
            seed: 0,
        }
    }
}

/// Pauses before retries: exponential with full jitter, so that calls that failed together do not retry together.
///
/// See Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
#[derive(Debug)]
pub(super) struct Backoff {
    base: Duration,
    longest: Duration,
    random: Mutex<fastrand::Rng>,
}

impl Backoff {
    pub(super) fn new(settings: &TrafficSettings) -> Self {
        Self {
            base: settings.base_delay,
            longest: settings.max_delay,
            random: Mutex::new(fastrand::Rng::with_seed(settings.seed)),
        }
    }

    /// The pause after that many failed attempts, drawn evenly between zero and `base * 2^(attempts - 1)`, or the longest pause if that
    /// is shorter.
    pub(super) fn pause(&self, attempts: u32) -> Duration {
        let fraction = self
            .random
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .f64();
        self.most(attempts).mul_f64(fraction)
    }

    fn most(&self, attempts: u32) -> Duration {
        let doublings = attempts.saturating_sub(1).min(31);
        self.base.saturating_mul(1 << doublings).min(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backoff(seed: u64) -> Backoff {
        Backoff::new(&TrafficSettings {
            seed,
            ..TrafficSettings::default()
        })
    }

    #[test]
    fn the_longest_pause_doubles_to_the_end_of_the_doubling() {
        let most: Vec<u64> = (1..=9)
            .map(|attempts| backoff(0).most(attempts).as_secs())
            .collect();
        assert_eq!(backoff(0).most(1), Duration::from_millis(500));
        assert_eq!(most, [0, 1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(backoff(0).most(u32::MAX), Duration::from_secs(30));
    }

    #[test]
    fn pauses_are_spread_over_the_whole_range() {
        let backoff = backoff(7);
        let pauses: Vec<Duration> = (0..1_000).map(|_| backoff.pause(3)).collect();
        let below = |most| {
            pauses
                .iter()
                .filter(|pause| **pause < Duration::from_millis(most))
                .count()
        };
        assert_eq!(below(2_000), 1_000);
        // A quarter of the range holds a quarter of the draws, give or take five standard deviations (14 each).
        assert!((180..=320).contains(&below(500)), "{}", below(500));
        assert!((180..=320).contains(&(below(2_000) - below(1_500))));
    }

    #[test]
    fn a_seed_gives_the_same_pauses_again() {
        let pauses = |seed| {
            let backoff = backoff(seed);
            (1..10)
                .map(|attempts| backoff.pause(attempts))
                .collect::<Vec<_>>()
        };
        assert_eq!(pauses(1), pauses(1));
        assert_ne!(pauses(1), pauses(2));
    }
}
