//! The number of mutations for each target, and their seed.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The seconds for each target, instead of a number of cases.
const SECONDS: &str = "EVALUATIONS_FUZZ_SECONDS";
/// The seed of the mutations, as a whole number.
const SEED: &str = "EVALUATIONS_FUZZ_SEED";
/// Mutations of a target in an ordinary test run.
const CASES: u32 = 300;
/// Mutations between two checks of the clock.
const BATCH: u32 = 64;

/// When to stop.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Budget {
    /// After this many mutations, which are the same each time.
    Cases(u32),
    /// At this moment.
    Until(Instant),
}

impl Budget {
    /// The budget that the environment sets.
    pub(crate) fn from_env() -> Self {
        match number(SECONDS) {
            Some(seconds) => Self::Until(Instant::now() + Duration::from_secs(seconds)),
            None => Self::Cases(CASES),
        }
    }

    /// How many mutations to try next; 0 when the budget is spent.
    pub(crate) fn next_batch(&mut self) -> u32 {
        match self {
            Self::Cases(left) => std::mem::take(left),
            Self::Until(end) if Instant::now() < *end => BATCH,
            Self::Until(_) => 0,
        }
    }

    /// The seed from the environment. By default, a timed run takes its seed from the clock, and other runs use a fixed one.
    pub(crate) fn seed(&self) -> u64 {
        number(SEED).unwrap_or_else(|| match self {
            Self::Cases(_) => 0,
            Self::Until(_) => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(1, |since| u64::from(since.subsec_nanos())),
        })
    }

    /// Whether this is a timed run. A timed run leaves its input in a file if the process ends early.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(self, Self::Until(_))
    }
}

/// A variable as a whole number.
///
/// # Panics
///
/// The variable is not a whole number.
fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    let number = value.trim().parse();
    Some(
        number.unwrap_or_else(|_| panic!("`{variable}` is `{value}`, which is not a whole number")),
    )
}
