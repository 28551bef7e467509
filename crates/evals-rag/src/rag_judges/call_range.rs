//! The fewest and the most calls of a judge.

use crate::estimate::Calls;

/// The fewest and the most calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallRange {
    /// The calls if the texts of every request for verdicts fit into it.
    pub fewest: Calls,
    /// The calls if every text has the most claims, and requests hold as little as their limits allow.
    pub most: Calls,
}

impl CallRange {
    /// No call at all.
    pub const NONE: Self = Self::exactly(Calls::NONE);

    /// So many calls, neither fewer nor more.
    pub const fn exactly(calls: Calls) -> Self {
        Self {
            fewest: calls,
            most: calls,
        }
    }

    /// The calls of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            fewest: self.fewest.plus(&other.fewest),
            most: self.most.plus(&other.most),
        }
    }

    /// The same calls, made this often.
    #[must_use]
    pub fn times(&self, times: u64) -> Self {
        Self {
            fewest: self.fewest.times(times),
            most: self.most.times(times),
        }
    }
}
