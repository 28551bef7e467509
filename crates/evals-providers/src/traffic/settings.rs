//! How many calls, how fast, and how many attempts.

use std::num::{NonZeroU32, NonZeroUsize};
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
