//! Retries of tasks and evaluators.

use std::num::NonZeroU32;
use std::time::Duration;

use crc32fast::Hasher;

use crate::{CaseId, FailureClass};

/// How often a failed task or evaluator runs again, and how long the runner waits in between.
///
/// The runner retries errors, but not those of class [`Terminal`](FailureClass::Terminal), panics, or scores that are not
/// finite. Every attempt has a fresh [`TaskScope`](crate::TaskScope), so a failed one leaves no timings, metrics and
/// attributes behind. A [`CaseTimeout`](crate::CaseTimeout) covers all attempts and the pauses between them.
///
/// A task that already retries by itself, such as a call of a model behind a server, multiplies the attempts: three
/// attempts of a task that tries each request five times are up to fifteen requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    attempts: NonZeroU32,
    base: Duration,
    longest: Duration,
    /// Seeds random pauses; `None` for fixed ones.
    seed: Option<u64>,
}

impl Retry {
    /// At most this many attempts, the first one included. The pause before a retry is random, at most 500 ms before the
    /// first one, at most twice as long before each further one, and never longer than 30 s.
    pub fn new(attempts: NonZeroU32) -> Self {
        Self {
            attempts,
            base: Duration::from_millis(500),
            longest: Duration::from_secs(30),
            seed: Some(0),
        }
    }

    /// Waits equally long before every retry.
    #[must_use]
    pub fn fixed(self, pause: Duration) -> Self {
        Self {
            base: pause,
            longest: pause,
            seed: None,
            ..self
        }
    }

    /// Waits a random time before a retry: at most `base` before the first one, at most twice as long before each further
    /// one, and never longer than `longest`. Equal seeds give equal pauses for the same case.
    #[must_use]
    pub fn backoff(self, base: Duration, longest: Duration, seed: u64) -> Self {
        Self {
            base,
            longest,
            seed: Some(seed),
            ..self
        }
    }

    /// The pauses of one repetition of a case. `evaluator` is empty for the task.
    pub(super) fn pauses(&self, case: &CaseId, repeat: u32, evaluator: &str) -> Pauses<'_> {
        let mut hasher = Hasher::new();
        for part in [case.as_str().as_bytes(), evaluator.as_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        let run = u64::from(hasher.finalize()) << 32 | u64::from(repeat);
        let random = self.seed.map(|seed| fastrand::Rng::with_seed(seed ^ run));
        Pauses {
            retry: self,
            random,
            failed: 0,
        }
    }
}

/// Counts the failed attempts of one task or evaluator.
pub(super) struct Pauses<'r> {
    retry: &'r Retry,
    random: Option<fastrand::Rng>,
    failed: u32,
}

impl Pauses<'_> {
    /// How long to wait after an attempt failed; `None` if there is no further one.
    pub(super) fn after(&mut self, class: Option<FailureClass>) -> Option<Duration> {
        self.failed += 1;
        if class == Some(FailureClass::Terminal) || self.failed >= self.retry.attempts.get() {
            return None;
        }
        let most = self
            .retry
            .base
            .saturating_mul(1 << (self.failed - 1).min(31));
        let most = most.min(self.retry.longest);
        let random = self.random.as_mut();
        Some(random.map_or(most, |random| most.mul_f64(random.f64())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(seed: u64, case: &str) -> Vec<Duration> {
        let attempts = NonZeroU32::new(12).unwrap();
        let retry =
            Retry::new(attempts).backoff(Duration::from_millis(100), Duration::from_secs(1), seed);
        let mut pauses = retry.pauses(&case.into(), 1, "");
        std::iter::from_fn(|| pauses.after(None)).collect()
    }

    #[test]
    fn pauses_stay_below_a_limit_that_doubles() {
        for seed in 0..200 {
            let pauses = pauses(seed, "a");
            assert_eq!(pauses.len(), 11, "one fewer than attempts");
            for (retry, pause) in pauses.iter().enumerate() {
                let most = (100u64 << retry).min(1_000);
                assert!(*pause <= Duration::from_millis(most), "{retry}: {pause:?}");
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_pauses_and_cases_do_not_retry_together() {
        assert_eq!(pauses(1, "a"), pauses(1, "a"));
        assert_ne!(pauses(1, "a"), pauses(2, "a"));
        assert_ne!(pauses(1, "a"), pauses(1, "b"));
    }

    #[test]
    fn a_terminal_failure_is_the_last() {
        let retry = Retry::new(NonZeroU32::new(3).unwrap()).fixed(Duration::from_secs(2));
        let case = "a".into();
        let mut pauses = retry.pauses(&case, 1, "");
        let second = Some(Duration::from_secs(2));
        assert_eq!(pauses.after(Some(FailureClass::Transient)), second);
        assert_eq!(pauses.after(Some(FailureClass::Terminal)), None);
    }
}
