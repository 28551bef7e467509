//! How two measurements of the same cases are tested against each other.

mod finding;
mod sensitivity;
mod tested;

use evals_metrics::PairedTest;
pub use evals_metrics::{Adjustment, Family, PairTest};
use serde::{Deserialize, Serialize};

use crate::ClusterKey;

pub use finding::{Finding, Verdict};
pub(crate) use finding::{UncorrectedFinding, judge, tests};
pub(crate) use sensitivity::{Sensitivity, SensitivityKey};
pub(crate) use tested::Tested;

/// The correction of p values, the power that a sensitivity refers to, and the test of differences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairTesting {
    /// The correction for several tests. The headline measure is tested first and needs none. Default: Holm's.
    #[serde(default)]
    pub adjustment: Adjustment,
    /// The power at which a difference counts as detectable, between the level of significance and 1. Default: 0.8.
    #[serde(default = "power")]
    pub power: f64,
    /// What makes cases a cluster, as the compared reports declare it; a comparison sets it. `None` if every case is alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterKey>,
    /// Test, resamples, level of confidence and seed. A correction of many tests needs more resamples: see
    /// [`resolving`](Self::resolving).
    #[serde(flatten)]
    pub paired: PairedTest,
}

/// The usual power.
fn power() -> f64 {
    0.8
}

impl Default for PairTesting {
    fn default() -> Self {
        Self::by(PairedTest::default())
    }
}

impl PairTesting {
    /// The defaults with this test, these resamples, level and seed.
    pub fn by(paired: PairedTest) -> Self {
        Self {
            adjustment: Adjustment::default(),
            power: power(),
            cluster: None,
            paired,
        }
    }

    /// The level of significance, such as 0.05.
    pub fn significance(&self) -> f64 {
        1.0 - self.paired.level
    }

    /// The randomization test with at least as many random swaps as the correction of so many tests needs. With fewer swaps, no test could be
    /// significant, not even if every swap is less extreme than the observed difference.
    pub fn resolving(&self, tests: usize) -> PairedTest {
        let strictest = self.adjustment.strictest(self.significance(), tests);
        self.paired.resolving(strictest)
    }
}
