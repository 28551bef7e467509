//! How many calls, how fast, and how many attempts.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

/// How a provider may be asked: how many calls at once, how fast, and how often again after a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficSettings {
    /// Most calls at once. Given, it is also where the traffic starts, so that a provider that never complains is used fully
    /// from the first call on. Default: `None`, which starts at `start_concurrency` and grows to `grown_concurrency`.
    pub max_concurrency: Option<NonZeroUsize>,
    /// Calls at once to begin with where `max_concurrency` is not given. Default: 8; 4 in [`Self::ollama`].
    pub start_concurrency: NonZeroUsize,
    /// Where growth ends where `max_concurrency` is not given. Default: [`Self::GROWN_CONCURRENCY`]; in [`Self::ollama`] where it
    /// starts, because Ollama never says that it has too much to do.
    pub grown_concurrency: NonZeroUsize,
    /// Most attempts a minute, paced evenly: a second's worth may be sent together. Default: no limit.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Most tokens a minute, paced evenly as above, by the callers' estimates. Default: no limit.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Most attempts of one call, the first included. Default: 6. Those that find the server away do not count.
    pub max_attempts: NonZeroU32,
    /// The longest pause before the first retry; it doubles with each. A pause is drawn from zero to that. Default: 0.5 s.
    pub base_delay: Duration,
    /// Where the doubling ends. Default: 30 s.
    pub max_delay: Duration,
    /// The longest wait that a server may ask for; where it asks for more, nothing more is sent. Default: 120 s.
    pub retry_after_cap: Duration,
    /// The longest that one attempt may take where its model has no timeout of its own. Default: 300 s.
    pub request_deadline: Duration,
    /// The longest that a call may take from its first attempt on, with pauses and retries. Waiting for its first turn does
    /// not count. Default: 900 s.
    pub call_deadline: Duration,
    /// Seed of the pauses. Default: 0.
    pub seed: u64,
}

impl TrafficSettings {
    /// Where growth ends if `max_concurrency` is not given.
    pub const GROWN_CONCURRENCY: NonZeroUsize = NonZeroUsize::new(64).expect("64 is not zero");

    /// The defaults for Ollama, which answers few calls at once and lets the others wait.
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
