use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A mean with what is needed to trust it: over how many values, what was left out and why, and how far chance carries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Mean {
    /// The arithmetic mean, or `None` where there was no value at all.
    pub value: Option<f64>,
    /// The number of values in the mean.
    pub n: usize,
    /// How many were left out, by reason.
    pub excluded: BTreeMap<String, usize>,
    /// The confidence interval of the mean, or `None` below two values.
    pub interval: Option<Interval>,
}

/// A confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The confidence level as a share, such as 0.95.
    pub level: f64,
}
