//! The mean change of paired values: its interval, and the test that belongs to it.

use serde::{Deserialize, Serialize};

use super::intervals::{clopper_pearson, student_interval};
use super::moments::Moments;
use super::tango::{tango_interval, tango_test};
use super::{
    Alternative, ClusterCorrection, Clusters, NoStatistic, TestMethod, TestResult, paired_t,
    sign_test, wilcoxon,
};
use crate::arithmetic::{arithmetic_mean, as_f64};
use crate::paired::difference;
use crate::{Interval, IntervalMethod, PairedTest, Scale};

/// How a change of paired values is tested. Its interval is that of the same method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PairTest {
    /// Tango's score test for passes and failures, and Student's t test for other values. With clusters, both are the t test with the
    /// cluster-robust standard error CR2.
    #[default]
    Auto,
    /// Fisher's randomization test, which is McNemar's exact test for passes and failures.
    Randomization,
    /// Student's t test.
    T,
    /// Wilcoxon's signed rank test, which tests no mean.
    Wilcoxon,
    /// The sign test, which tests no mean.
    Sign,
}

/// What the values say about a mean change: its interval and its p value, both of one method. The interval excludes 0 exactly if the p
/// value is below 1 minus the level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inference {
    /// The interval of the mean change, or why there is none.
    pub interval: Result<Interval, NoStatistic>,
    /// The two-sided test against no change, or why there is none.
    pub test: Result<TestResult, NoStatistic>,
}

impl PairTest {
    /// Whether the test works for cases in clusters.
    pub fn takes_clusters(self) -> bool {
        matches!(self, Self::Auto | Self::Randomization | Self::T)
    }

    /// The name of the test in print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "paired t test, for values of 0 and 1 Tango's score test",
            Self::Randomization => "paired randomization test",
            Self::T => "paired t test",
            Self::Wilcoxon => "Wilcoxon signed rank test",
            Self::Sign => "sign test",
        }
    }
}

impl PairedTest {
    /// The interval and the test of the mean change of pairs, second value minus first. `clusters` has the number of each pair's cluster, if
    /// pairs come in clusters.
    ///
    /// Equal changes show no spread. If the measure is a [`Share`](Scale::Share), [`PairTest::Auto`] then uses that n equal changes leave
    /// only a small share of all cases to change otherwise. If it is not, no interval is known, and the p value is that of the randomization
    /// test.
    ///
    /// ```
    /// use evals_metrics::{PairedTest, Scale};
    ///
    /// // Of 300 verdicts, 8 passed before and fail now.
    /// let mut pairs = vec![(1.0, 1.0); 300];
    /// pairs[..8].fill((1.0, 0.0));
    /// let found = PairedTest::default().infer(&pairs, None, Scale::Share);
    /// let interval = found.interval?;
    /// assert_eq!(format!("[{:.4}, {:.4}]", interval.low, interval.high), "[-0.0517, -0.0136]");
    /// assert_eq!(format!("{:.4}", found.test?.p_value), "0.0047");
    /// # Ok::<(), evals_metrics::NoStatistic>(())
    /// ```
    pub fn infer(
        &self,
        pairs: &[(f64, f64)],
        clusters: Option<&[usize]>,
        scale: Scale,
    ) -> Inference {
        let changes: Vec<f64> = pairs
            .iter()
            .map(|(before, after)| difference(*before, *after))
            .collect();
        let clustered = clusters.and_then(|of| Clusters::sharing(of, &changes));
        let is_share = scale.is_share(pairs.iter().flat_map(|(before, after)| [before, after]));
        let found = match self.method {
            PairTest::Auto => self.automatic(pairs, &changes, clustered.as_ref(), is_share),
            PairTest::T => self.by_t(&changes, clustered.as_ref()),
            PairTest::Randomization => self.by_swaps(pairs, &changes, clustered.as_ref()),
            PairTest::Wilcoxon | PairTest::Sign => {
                let test = if self.method == PairTest::Sign {
                    sign_test
                } else {
                    wilcoxon
                };
                Inference {
                    interval: Err(NoStatistic::NotOfMean),
                    test: match clustered {
                        Some(_) => Err(NoStatistic::NoClusterForm),
                        None => test(&changes, Alternative::TwoSided),
                    },
                }
            }
        };
        let within = |interval: Interval| {
            if is_share {
                interval.within(-1.0, 1.0)
            } else {
                interval
            }
        };
        Inference {
            interval: found.interval.map(within),
            ..found
        }
    }

    fn automatic(
        &self,
        pairs: &[(f64, f64)],
        changes: &[f64],
        clusters: Option<&Clusters>,
        is_share: bool,
    ) -> Inference {
        let is_uniform = matches!(
            Moments::of(changes),
            Err(NoStatistic::NoSpread | NoStatistic::OneValue)
        );
        if is_uniform && !is_share {
            return Inference {
                interval: Err(NoStatistic::NoSpread),
                ..self.by_swaps(pairs, changes, clusters)
            };
        }
        match clusters {
            None if are_verdicts(pairs) => {
                let count = |is: fn(f64) -> bool| changes.iter().filter(|it| is(**it)).count();
                let [gained, lost] = [count(|it| it > 0.0), count(|it| it < 0.0)];
                Inference {
                    interval: tango_interval(gained, lost, pairs.len(), self.level),
                    test: tango_test(gained, lost, pairs.len()),
                }
            }
            _ if is_uniform => self.by_unlike(changes, clusters.map_or(pairs.len(), Clusters::len)),
            _ => self.by_t(changes, clusters),
        }
    }

    fn by_t(&self, changes: &[f64], clusters: Option<&Clusters>) -> Inference {
        match clusters {
            None => Inference {
                interval: student_interval(changes, self.level),
                test: paired_t(changes, Alternative::TwoSided),
            },
            Some(clusters) => Inference {
                interval: clusters.interval(ClusterCorrection::Cr2, self.level),
                test: clusters.t_test(ClusterCorrection::Cr2, Alternative::TwoSided),
            },
        }
    }

    fn by_swaps(
        &self,
        pairs: &[(f64, f64)],
        changes: &[f64],
        clusters: Option<&Clusters>,
    ) -> Inference {
        let test = match clusters {
            Some(clusters) => clusters.randomization_test(self),
            None => self.randomization_test(pairs, changes),
        };
        let units: Vec<(f64, f64)> = match clusters {
            Some(clusters) => clusters.units(),
            None => changes.iter().map(|change| (*change, 1.0)).collect(),
        };
        let p_value = test.map_or(1.0, |test| test.p_value);
        Inference {
            interval: self.inverted(&units, p_value),
            test,
        }
    }

    /// If all n units changed by the same m, at most the share u = 1 - (α / 2)^(1 / n) of all units may change otherwise: Clopper and
    /// Pearson's limit for 0 of n. Each of these changes by -1 at least and by 1 at most, so the mean change is within (1 - u) m ± u.
    fn by_unlike(&self, changes: &[f64], n: usize) -> Inference {
        let mean = arithmetic_mean(changes).unwrap_or_default();
        let interval = clopper_pearson(0, n, self.level).map(|none| Interval {
            low: (1.0 - none.high) * mean - none.high,
            high: (1.0 - none.high) * mean + none.high,
            method: IntervalMethod::EqualChanges,
            ..none
        });
        let test = TestResult {
            method: TestMethod::EqualChanges,
            n,
            statistic: mean,
            degrees: None,
            is_exact: true,
            // The level at which the interval ends at 0.
            p_value: (2.0 * (1.0 + mean.abs()).powf(-as_f64(n))).min(1.0),
        };
        Inference {
            interval,
            test: if mean.abs() > 0.0 {
                Ok(test)
            } else {
                Err(NoStatistic::NothingChanged)
            },
        }
    }
}

/// Whether all values are passes and failures.
#[expect(
    clippy::float_cmp,
    reason = "a pass is exactly 1 and a failure exactly 0"
)]
pub fn are_verdicts(pairs: &[(f64, f64)]) -> bool {
    let is_verdict = |value: f64| value == 0.0 || value == 1.0;
    let mut pairs = pairs.iter();
    pairs.all(|(before, after)| is_verdict(*before) && is_verdict(*after))
}
