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
    /// Where the ends come from. A file without it was written when
    /// [`IntervalMethod::Bootstrap`] was the only one.
    #[serde(default)]
    pub method: IntervalMethod,
}

/// Where the ends of an [`Interval`] come from. Serialises in kebab-case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum IntervalMethod {
    /// The percentile bootstrap, for values of any distribution.
    #[default]
    Bootstrap,
    /// Wilson's score interval, for values that are all 0 or 1.
    Wilson,
}
