//! The choice of a paired test.

use std::num::NonZeroU32;

use evals_metrics::{
    Alternative, ClusterCorrection, Clusters, NoStatistic, PairedDifference, PairedTest,
    TestMethod, TestResult, difference, paired_t, sign_test, wilcoxon,
};
use serde::{Deserialize, Serialize};

/// A test of paired values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairTest {
    /// Fisher's randomization test, which is McNemar's exact test for passes and failures.
    #[default]
    Randomization,
    /// Student's t test.
    T,
    /// Wilcoxon's signed rank test.
    Wilcoxon,
    /// The sign test.
    Sign,
}

impl PairTest {
    /// The difference of paired values with the result of this test. Where the test has no p value, the reason stands beside a
    /// difference with that of the randomization test. `None` without values, or with one that is not finite.
    pub(super) fn compare(
        self,
        pairs: &[(f64, f64)],
        paired: PairedTest,
    ) -> Option<(PairedDifference, Result<TestResult, NoStatistic>)> {
        let by_swaps = || {
            let found = paired.compare(pairs)?;
            let result = swapped(&found);
            Some((found, Ok(result)))
        };
        let test = match self {
            Self::Randomization => return by_swaps(),
            Self::T => paired_t,
            Self::Wilcoxon => wilcoxon,
            Self::Sign => sign_test,
        };
        let changes = pairs.iter();
        let changes: Vec<f64> = changes
            .map(|(before, after)| difference(*before, *after))
            .collect();
        let result = match test(&changes, Alternative::TwoSided) {
            // Nothing changed, so that no test finds anything.
            Err(NoStatistic::NothingChanged | NoStatistic::NoValues) => return by_swaps(),
            Err(reason) => return Some((paired.compare(pairs)?, Err(reason))),
            Ok(result) => result,
        };
        // Only its p value needs many resamples, and that is replaced.
        let cheap = PairedTest {
            resamples: NonZeroU32::MIN,
            ..paired
        };
        let found = PairedDifference {
            p_value: result.p_value,
            is_exact: result.is_exact,
            method: result.method,
            ..cheap.compare(pairs)?
        };
        Some((found, Ok(result)))
    }

    /// The test of differences in clusters.
    pub(super) fn by_cluster(
        self,
        clusters: &Clusters,
        paired: &PairedTest,
    ) -> Result<TestResult, NoStatistic> {
        match self {
            Self::Randomization => clusters.randomization_test(paired),
            Self::T => clusters.t_test(ClusterCorrection::default(), Alternative::TwoSided),
            Self::Wilcoxon | Self::Sign => Err(NoStatistic::NoClusterForm),
        }
    }

    /// Whether the test works for cases in clusters.
    pub fn takes_clusters(self) -> bool {
        matches!(self, Self::Randomization | Self::T)
    }

    /// The name of the test in print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Randomization => "paired randomization test",
            Self::T => "paired t test",
            Self::Wilcoxon => "Wilcoxon signed rank test",
            Self::Sign => "sign test",
        }
    }
}

/// The result of the randomization test, whose statistic is the mean difference.
fn swapped(found: &PairedDifference) -> TestResult {
    TestResult {
        method: TestMethod::Randomization,
        n: found.n,
        statistic: found.difference,
        degrees: None,
        is_exact: found.is_exact,
        p_value: found.p_value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p_value(test: PairTest, differences: &[f64]) -> Result<f64, NoStatistic> {
        let pairs: Vec<(f64, f64)> = differences.iter().map(|change| (0.0, *change)).collect();
        let (_, result) = test.compare(&pairs, PairedTest::default()).unwrap();
        result.map(|it| it.p_value)
    }

    #[test]
    fn each_test_has_its_own_p_value() {
        let changes = [0.1, 0.3, -0.1, 0.4, 0.2, 0.35];
        // The sum 1.25 of the sizes 0.1, 0.1, 0.2, 0.3, 0.35 and 0.4 is reached with at most one 0.1 negative: 2 * 3 of 64 signs.
        assert_eq!(p_value(PairTest::Randomization, &changes), Ok(6.0 / 64.0));
        // Five of six coins: 2 * (1 + 6) / 64.
        assert_eq!(p_value(PairTest::Sign, &changes), Ok(14.0 / 64.0));
        for test in [PairTest::T, PairTest::Wilcoxon] {
            let p = p_value(test, &changes).unwrap();
            assert!(p > 0.02 && p < 0.1, "{test:?}: {p}");
        }
    }

    #[test]
    fn a_test_without_a_p_value_gives_its_reason() {
        assert_eq!(p_value(PairTest::T, &[0.5]), Err(NoStatistic::OneValue));
        assert_eq!(p_value(PairTest::T, &[0.5; 10]), Err(NoStatistic::NoSpread));
        assert_eq!(p_value(PairTest::T, &[0.0; 10]), Ok(1.0));
        assert!(PairTest::T.compare(&[], PairedTest::default()).is_none());
    }
}
