//! What a test can see: its power, the smallest difference that it detects, and the cases that a difference takes.

mod mean;
mod pass_rate;

use serde::{Deserialize, Serialize};

use super::NoStatistic;
use super::moments::check_level;

pub use mean::MeanPower;
pub use pass_rate::{PassRatePower, VerdictTest};

/// The error rates of a test that is planned.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The significance level: how often the test reports a difference where there is none. Default: 0.05.
    pub significance: f64,
    /// The power: how often the test reports a difference that is there. Default: 0.8.
    pub power: f64,
    /// Whether the test looks on both sides or on one. Default: on both.
    pub sides: Sides,
}

/// Whether a test looks for a difference on both sides or on one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sides {
    /// For better or worse.
    #[default]
    Two,
    /// On one side, such as only for worse.
    One,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            significance: 0.05,
            power: 0.8,
            sides: Sides::Two,
        }
    }
}

impl Plan {
    /// The probability of a false alarm on one side.
    fn tail(&self) -> f64 {
        match self.sides {
            Sides::Two => self.significance / 2.0,
            Sides::One => self.significance,
        }
    }

    /// Fails where the test would find nothing, or everything, whatever the data.
    fn check(&self) -> Result<(), NoStatistic> {
        check_level(self.significance)?;
        check_level(self.power)?;
        if self.power <= self.significance {
            return Err(NoStatistic::Level);
        }
        Ok(())
    }
}

/// The smallest number above `few` that is enough. `few` is not, `enough` is, and so are all numbers between that number and it.
fn fewest(mut few: usize, mut enough: usize, is_enough: impl Fn(usize) -> bool) -> usize {
    while enough - few > 1 {
        let middle = few.midpoint(enough);
        if is_enough(middle) {
            enough = middle;
        } else {
            few = middle;
        }
    }
    enough
}
