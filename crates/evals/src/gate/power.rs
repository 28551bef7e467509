//! How small a drop a paired test can see.

use evals_metrics::{MeanPower, Plan, Sides};

use crate::pair_testing::least_p_value;
use crate::summary::count;

/// The probability with which a test finds a drop of the detectable size.
pub const POWER: f64 = 0.8;

/// What a two-sided paired test of a number of cases can see, for differences of any spread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PowerPlan {
    plan: Plan,
    /// The detectable difference where the standard deviation is 1. It grows with the deviation. `None` if no difference of so few cases
    /// can be significant.
    unit: Option<f64>,
}

/// What a two-sided paired test of some differences can see.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Power {
    plan: PowerPlan,
    deviation: f64,
}

impl PowerPlan {
    /// The plan of a test that reports a difference with a probability of `alpha` where there is none.
    /// `None` below two cases.
    pub(crate) fn new(alpha: f64, cases: usize) -> Option<Self> {
        let plan = Plan {
            significance: alpha,
            power: POWER,
            sides: Sides::Two,
        };
        let mean = MeanPower {
            deviation: 1.0,
            plan,
        };
        let unit = mean.detectable(cases).ok()?;
        let is_in_reach = least_p_value(cases) <= alpha;
        Some(Self {
            plan,
            unit: is_in_reach.then_some(unit),
        })
    }

    /// What the test can see in these differences, as many as planned. `None` if all are equal: they show no spread, so nothing is known
    /// about it.
    pub(crate) fn of(self, differences: &[f64]) -> Option<Power> {
        let n = count(differences.len());
        let mean = differences.iter().sum::<f64>() / n;
        let squares = differences.iter().map(|value| (value - mean).powi(2));
        let deviation = (squares.sum::<f64>() / (n - 1.0)).sqrt();
        let is_equal = differences
            .windows(2)
            .all(|pair| pair[0].total_cmp(&pair[1]).is_eq());
        if is_equal || deviation <= 0.0 || !deviation.is_finite() {
            return None;
        }
        Some(Power {
            plan: self,
            deviation,
        })
    }
}

impl Power {
    /// The smallest true difference that the test finds with a probability of [`POWER`]. `None` if no difference can be significant.
    pub(crate) fn detectable(&self) -> Option<f64> {
        Some(self.plan.unit? * self.deviation)
    }

    /// How many cases the test needs to find a true difference of `size` with that probability; `None` for a size of 0.
    pub(crate) fn cases_for(&self, size: f64) -> Option<usize> {
        let mean = MeanPower {
            deviation: self.deviation,
            plan: self.plan.plan,
        };
        mean.cases(size).ok()
    }
}
