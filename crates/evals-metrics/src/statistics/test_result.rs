//! The result of a test, the method that it names, and the side on which it looks for a difference.

use std::cmp::Ordering;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::arithmetic::as_f64;

/// The method of a test. Serialises in kebab-case and prints as a reader knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TestMethod {
    /// Fisher's randomization test: swaps the two values of a case, in all ways or at random.
    #[default]
    Randomization,
    /// McNemar's test of passes and failures, with its exact binomial probability.
    #[serde(rename = "exact-mcnemar")]
    ExactMcNemar,
    /// The exact sign test.
    Sign,
    /// Student's t test of paired values.
    PairedT,
    /// Wilcoxon's signed rank test, with its exact probability.
    Wilcoxon,
    /// Wilcoxon's signed rank test by the normal approximation, with a correction for continuity.
    WilcoxonNormal,
    /// Student's t test with a standard error that is robust to clusters (CR1).
    ClusterCr1,
    /// Student's t test with a standard error that is robust to clusters, also of different sizes (CR2).
    ClusterCr2,
    /// The randomization test that swaps the values of all cases of a cluster at once.
    ClusterRandomization,
    /// Tango's score test of passes and failures, which is McNemar's test without a correction for continuity.
    Tango,
    /// The exact test of changes that are all equal, by a measure with values from 0 to 1.
    EqualChanges,
    /// Pettitt's test for a change point, with a permutation p value.
    Pettitt,
}

impl Display for TestMethod {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Randomization => "Fisher's randomization test",
            Self::ExactMcNemar => "exact McNemar test",
            Self::Sign => "exact sign test",
            Self::PairedT => "paired t test",
            Self::Wilcoxon => "exact Wilcoxon signed rank test",
            Self::WilcoxonNormal => "Wilcoxon signed rank test, normal approximation",
            Self::ClusterCr1 => "t test with cluster-robust standard error (CR1)",
            Self::ClusterCr2 => "t test with cluster-robust standard error (CR2)",
            Self::ClusterRandomization => "randomization test by cluster",
            Self::Tango => "Tango's score test",
            Self::EqualChanges => "exact test of equal changes",
            Self::Pettitt => "Pettitt's change-point test",
        })
    }
}

/// The result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// The method.
    pub method: TestMethod,
    /// The number of cases, or of clusters, that the p value comes from. Tests of ranks and signs ignore unchanged cases.
    pub n: usize,
    /// The test statistic, as the method's function documents it.
    pub statistic: f64,
    /// The degrees of freedom of a t test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degrees: Option<f64>,
    /// Whether the p value counts every way to give the differences signs. Random swaps, approximations and t distributions do not.
    #[serde(default)]
    pub is_exact: bool,
    /// The p value: the probability of such a statistic, or one further from its mean, if there is no effect.
    pub p_value: f64,
}

impl TestResult {
    /// Which differences outweigh the others for this test: [`Greater`](Ordering::Greater) if the positive ones do, and
    /// [`Equal`](Ordering::Equal) if neither do. It is the sign of the statistic minus its mean without an effect.
    ///
    /// Tests of ranks and signs may point away from the mean of the differences: if many cases get a little better and a few much worse,
    /// the mean falls. `None` for Pettitt's test, which compares no pairs.
    ///
    /// ```
    /// use evals_metrics::{Alternative, sign_test};
    /// use std::cmp::Ordering;
    ///
    /// // The mean of these differences is -0.1.
    /// let result = sign_test(&[0.1, 0.1, 0.1, 0.1, -0.9], Alternative::TwoSided)?;
    /// assert_eq!(result.direction(), Some(Ordering::Greater));
    /// # Ok::<(), evals_metrics::NoStatistic>(())
    /// ```
    pub fn direction(&self) -> Option<Ordering> {
        let n = as_f64(self.n);
        let expected = match self.method {
            TestMethod::Sign | TestMethod::ExactMcNemar => n / 2.0,
            TestMethod::Wilcoxon | TestMethod::WilcoxonNormal => n * (n + 1.0) / 4.0,
            TestMethod::Randomization
            | TestMethod::PairedT
            | TestMethod::Tango
            | TestMethod::EqualChanges
            | TestMethod::ClusterCr1
            | TestMethod::ClusterCr2
            | TestMethod::ClusterRandomization => 0.0,
            TestMethod::Pettitt => return None,
        };
        self.statistic.partial_cmp(&expected)
    }
}

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
