//! How many mutations a target is tried with, and from which seed they come.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Seconds for each target, in place of a number of cases.
const SECONDS: &str = "EVALUATIONS_FUZZ_SECONDS";
/// The seed of the mutations, as a whole number.
const SEED: &str = "EVALUATIONS_FUZZ_SEED";
/// Mutations of a target in an ordinary test run.
const CASES: u32 = 300;
/// Mutations between two looks at the clock.
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

    /// The seed that the environment names; else one by the clock where time is spent, and always the same one otherwise.
    pub(crate) fn seed(&self) -> u64 {
        number(SEED).unwrap_or_else(|| match self {
            Self::Cases(_) => 0,
            Self::Until(_) => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(1, |since| u64::from(since.subsec_nanos())),
        })
    }

    /// Whether this is a timed run. Such a run leaves its input behind if the process ends early.
    pub(crate) fn is_timed(&self) -> bool {
        matches!(self, Self::Until(_))
    }
}

/// A variable as a whole number.
///
/// # Panics
///
/// It is set to something else.
fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    let number = value.trim().parse();
    Some(
        number.unwrap_or_else(|_| panic!("`{variable}` is `{value}`, which is not a whole number")),
    )
}
