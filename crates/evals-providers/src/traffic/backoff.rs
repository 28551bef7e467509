//! How long to pause before a retry.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::settings::TrafficSettings;

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
