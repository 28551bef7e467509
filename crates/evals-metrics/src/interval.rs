//! A confidence interval, and how it was computed.

use std::fmt::{self, Display, Formatter};

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
    /// Student's t.
    #[serde(rename = "student-t")]
    StudentT,
    /// Clopper and Pearson's exact interval, for values that are all 0 or 1.
    ClopperPearson,
    /// The noncentral t distribution, for effect sizes.
    #[serde(rename = "noncentral-t")]
    NoncentralT,
    /// Student's t with a standard error that is robust to clusters (CR1).
    ClusterCr1,
    /// Student's t with a standard error that is robust to clusters, also of different sizes (CR2).
    ClusterCr2,
    /// The percentile bootstrap that draws whole clusters.
    ClusterBootstrap,
    /// The adjusted Wald interval of a pass rate that is corrected for a judge's errors.
    RoganGladen,
    /// Prediction-powered inference with the optimal weight (PPI++).
    PredictionPowered,
    /// Prediction-powered inference with the full weight of the predictions (PPI).
    PredictionPoweredFull,
    /// Inverse probability weighting of what people judged.
    InverseProbability,
    /// Tango's score interval, for the difference of pass rates over the same cases.
    Tango,
    /// The inverted randomization test: the changes that the test does not reject.
    Randomization,
    /// The exact limits of the mean of all cases where the changes of the observed ones are equal, for values from 0 to 1.
    EqualChanges,
}

impl Display for IntervalMethod {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bootstrap => "percentile bootstrap",
            Self::Wilson => "Wilson's score interval",
            Self::Asymptotic => "normal approximation",
            Self::PropagatedWilson => "Wilson's score intervals, propagated",
            Self::StudentT => "Student's t",
            Self::ClopperPearson => "Clopper-Pearson",
            Self::NoncentralT => "noncentral t",
            Self::ClusterCr1 => "Student's t with cluster-robust standard error (CR1)",
            Self::ClusterCr2 => "Student's t with cluster-robust standard error (CR2)",
            Self::ClusterBootstrap => "percentile bootstrap of clusters",
            Self::RoganGladen => "Rogan-Gladen, adjusted Wald",
            Self::PredictionPowered => "prediction-powered inference (PPI++)",
            Self::PredictionPoweredFull => "prediction-powered inference (PPI)",
            Self::InverseProbability => "inverse probability weighting",
            Self::Tango => "Tango's score interval",
            Self::Randomization => "inverted randomization test",
            Self::EqualChanges => "exact limits of equal changes",
        })
    }
}

impl Interval {
    /// The interval without what is beyond two limits.
    #[must_use]
    pub(crate) fn within(self, least: f64, greatest: f64) -> Self {
        Self {
            low: self.low.max(least),
            high: self.high.min(greatest),
            ..self
        }
    }
}
