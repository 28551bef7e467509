//! The side on which a test looks for a difference.

use serde::{Deserialize, Serialize};

/// The side on which a test looks for a difference, or on which a bound lies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Alternative {
    /// The mean difference is not 0.
    #[default]
    TwoSided,
    /// The mean difference is above 0.
    Greater,
    /// The mean difference is below 0.
    Less,
}

impl Alternative {
    /// The p value from the probabilities of a statistic at most, and at least, as large as the observed one.
    pub(super) fn p_value(self, lower: f64, upper: f64) -> f64 {
        let p_value = match self {
            Self::TwoSided => 2.0 * lower.min(upper),
            Self::Greater => upper,
            Self::Less => lower,
        };
        p_value.min(1.0)
    }
}
