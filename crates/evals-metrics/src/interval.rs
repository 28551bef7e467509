//! A confidence interval, and how it was computed.

use serde::{Deserialize, Serialize};

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The confidence level as a share, such as 0.95.
    pub level: f64,
    /// The method. Files from before Wilson's interval have no method, which means
    /// [`IntervalMethod::Bootstrap`].
    #[serde(default)]
    pub method: IntervalMethod,
}

/// The method that computed an [`Interval`]. Serialises in kebab-case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum IntervalMethod {
    /// The percentile bootstrap, for values of any distribution.
    #[default]
    Bootstrap,
    /// Wilson's score interval, for values that are all 0 or 1.
    Wilson,
    /// The normal approximation with an asymptotic standard error.
    Asymptotic,
    /// Wilson's intervals of two independent shares, propagated to a statistic of both.
    PropagatedWilson,
}
