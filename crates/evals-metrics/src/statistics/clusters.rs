//! Means of values that come in clusters, such as several questions about one document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::intervals::around;
use super::moments::{Moments, check_finite, check_level};
use super::paired_t::t_test;
use super::{Alternative, NoStatistic, TestMethod, TestResult};
use crate::arithmetic::{ROUNDING, arithmetic_mean, as_f64, share};
use crate::distribution::student_upper_quantile;
use crate::percentiles::quantile;
use crate::random::Xoshiro256PlusPlus;
use crate::{Bootstrap, Interval, IntervalMethod, PairedTest};

/// Values in clusters, for means, intervals and tests that allow the values of a cluster to depend on each other.
///
/// Questions about the same document or topic tend to succeed and fail together. Intervals and tests that take each of them for
/// an independent observation are then too sure. Here, clusters are independent, and values within a cluster need not be.
/// All methods need clusters rather than values: 10 at least for CR2 and the randomization test, and more for the others.
///
/// Repetitions of a case are a cluster too. Means over the repetitions of each case, with one value for each case, are the same
/// correction if all cases ran equally often.
///
/// ```
/// use evals_metrics::{Alternative, ClusterCorrection, Clusters};
///
/// let differences = [("physics", 0.1), ("physics", 0.2), ("law", -0.1), ("art", 0.3), ("art", 0.1)];
/// let clusters = Clusters::new(differences);
/// assert_eq!((clusters.n(), clusters.len()), (5, 3));
/// assert_eq!(format!("{:.3}", clusters.mean()?), "0.120");
/// let error = clusters.standard_error(ClusterCorrection::Cr1)?;
/// assert_eq!(format!("{:.4}", error.value), "0.0682");
/// let test = clusters.t_test(ClusterCorrection::Cr1, Alternative::TwoSided)?;
/// assert_eq!(format!("{:.2}", test.p_value), "0.22");
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    values: Vec<f64>,
    /// How many values each cluster has; those of a cluster are neighbours.
    sizes: Vec<usize>,
}

/// How a cluster-robust standard error is corrected for the number of clusters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterCorrection {
    /// CR2: removes the bias that clusters of different size bring, with degrees of freedom that fall with it.
    #[default]
    Cr2,
    /// CR1: multiplies the variance by `G / (G - 1)` for G clusters, with G - 1 degrees of freedom, as statsmodels and Stata do.
    Cr1,
}

/// A cluster-robust standard error, and the degrees of freedom of its t distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ClusterError {
    /// The standard error, in the unit of the values.
    pub value: f64,
    /// The degrees of freedom.
    pub degrees: f64,
}

impl Clusters {
    /// Collects values by the key of their cluster. Keys only group: neither their order nor their names affect a result.
    pub fn new<Key: Ord>(values: impl IntoIterator<Item = (Key, f64)>) -> Self {
        let mut clusters: BTreeMap<Key, Vec<f64>> = BTreeMap::new();
        for (key, value) in values {
            clusters.entry(key).or_default().push(value);
        }
        let mut clusters: Vec<Vec<f64>> = clusters.into_values().collect();
        for values in &mut clusters {
            values.sort_unstable_by(f64::total_cmp);
        }
        clusters.sort_unstable_by(|left, right| {
            let pairs = left.iter().zip(right);
            let unequal = pairs
                .map(|(left, right)| left.total_cmp(right))
                .find(|it| it.is_ne());
            unequal.unwrap_or_else(|| left.len().cmp(&right.len()))
        });
        Self {
            sizes: clusters.iter().map(Vec::len).collect(),
            values: clusters.into_iter().flatten().collect(),
        }
    }

    /// Collects values, with the number of each one's cluster. `None` if each value is alone: then the methods for single values hold, which
    /// know more of passes and failures.
    pub(super) fn sharing(clusters: &[usize], values: &[f64]) -> Option<Self> {
        let found = Self::new(clusters.iter().copied().zip(values.iter().copied()));
        (found.len() < found.n()).then_some(found)
    }

    /// The number of values.
    pub fn n(&self) -> usize {
        self.values.len()
    }

    /// The number of clusters.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of clusters whose values do not add up to 0.
    pub fn changed(&self) -> usize {
        let sums = self.sums(0.0).into_iter();
        sums.filter(|sum| sum.abs() > 0.0).count()
    }

    /// The mean of all values, each with the same weight.
    ///
    /// # Errors
    ///
    /// Undefined without values, and if one is not finite.
    pub fn mean(&self) -> Result<f64, NoStatistic> {
        check_finite(&self.values)?;
        arithmetic_mean(&self.values).ok_or(NoStatistic::NoValues)
    }

    /// The cluster-robust standard error of the mean.
    ///
    /// ```text
    /// CR1 = √(G / (G - 1) Σ_g s_g²) / n,       degrees = G - 1
    /// CR2 = √(Σ_g s_g² / (1 - w_g)) / n,       degrees = 1 / (Σ_g w_g² + Σ_{g ≠ h} q_g q_h),   q = w² / (1 - w)
    /// ```
    ///
    /// where G is the number of clusters, n that of values, `s_g` the sum of a cluster's distances from the mean, and `w_g` the
    /// cluster's share of the values. For clusters of one size, both are equal.
    ///
    /// # Errors
    ///
    /// Undefined without values, if one is not finite, for a single cluster, and where the distances of every cluster add up to
    /// 0, as in equal values.
    ///
    /// Sources: Liang and Zeger, "Longitudinal Data Analysis Using Generalized Linear Models", Biometrika 73 (1986); for CR2, Bell and
    /// McCaffrey, "Bias Reduction in Standard Errors for Linear Regression with Multi-Stage Samples", Survey Methodology 28 (2002),
    /// whose formulas are those above for a mean. CR1 equals statsmodels' `OLS(values, ones).fit(cov_type="cluster")`.
    pub fn standard_error(
        &self,
        correction: ClusterCorrection,
    ) -> Result<ClusterError, NoStatistic> {
        let mean = self.mean()?;
        if self.len() < 2 {
            return Err(NoStatistic::OneCluster);
        }
        let sums = self.sums(mean);
        let furthest = sums.iter().fold(0.0_f64, |size, sum| size.max(sum.abs()));
        if furthest <= 0.0 {
            return Err(NoStatistic::NoSpread);
        }
        let squares = sums.iter().map(|sum| (sum / furthest).powi(2));
        let weights = self.sizes.iter().map(|size| share(*size, self.n()));
        let clusters = as_f64(self.len());
        let (variance, degrees) = match correction {
            ClusterCorrection::Cr1 => {
                let squares: f64 = squares.sum();
                (clusters / (clusters - 1.0) * squares, clusters - 1.0)
            }
            ClusterCorrection::Cr2 => {
                let corrected = squares.zip(weights.clone());
                let own: f64 = weights.clone().map(|weight| weight * weight).sum();
                let shared = weights.map(|weight| weight * weight / (1.0 - weight));
                let (sum, square) =
                    shared.fold((0.0, 0.0), |(sum, square), it| (sum + it, square + it * it));
                (
                    corrected
                        .map(|(square, weight)| square / (1.0 - weight))
                        .sum(),
                    1.0 / (own + sum * sum - square),
                )
            }
        };
        Ok(ClusterError {
            value: furthest * f64::sqrt(variance) / as_f64(self.n()),
            degrees,
        })
    }

    /// The design effect: how many times the variance of the mean is that of as many independent values. 1 where clusters do not matter, and
    /// less than 1 where the values of a cluster differ more than others do.
    ///
    /// ```text
    /// CR2² / (s² / n)
    /// ```
    ///
    /// # Errors
    ///
    /// As [`standard_error`](Self::standard_error), and for equal values.
    ///
    /// Source: Kish, *Survey Sampling* (1965), chapter 8; the variance with clusters is that of CR2.
    ///
    /// ```
    /// use evals_metrics::Clusters;
    ///
    /// let copies = [("a", 1.0), ("a", 1.0), ("b", 0.0), ("b", 0.0), ("c", 1.0), ("c", 1.0), ("d", 0.0), ("d", 0.0)];
    /// assert_eq!(format!("{:.3}", Clusters::new(copies).design_effect()?), "2.333");
    /// # Ok::<(), evals_metrics::NoStatistic>(())
    /// ```
    pub fn design_effect(&self) -> Result<f64, NoStatistic> {
        let alone = Moments::of(&self.values)?.standard_error();
        let together = self.standard_error(ClusterCorrection::Cr2)?.value;
        Ok((together / alone).powi(2))
    }

    /// Student's t interval of the mean with the cluster-robust standard error.
    ///
    /// # Errors
    ///
    /// As [`standard_error`](Self::standard_error), and at a level outside 0 to 1.
    pub fn interval(
        &self,
        correction: ClusterCorrection,
        level: f64,
    ) -> Result<Interval, NoStatistic> {
        check_level(level)?;
        let (mean, error) = (self.mean()?, self.standard_error(correction)?);
        let reach = error.value * student_upper_quantile((1.0 - level) / 2.0, error.degrees);
        let method = match correction {
            ClusterCorrection::Cr1 => IntervalMethod::ClusterCr1,
            ClusterCorrection::Cr2 => IntervalMethod::ClusterCr2,
        };
        around(mean, reach, level, method)
    }

    /// The percentile bootstrap's interval of the mean over resamples of whole clusters.
    ///
    /// # Errors
    ///
    /// As [`interval`](Self::interval).
    ///
    /// Source: Davison and Hinkley, *Bootstrap Methods and their Application* (1997), section 3.8, strategy 1.
    pub fn bootstrap_interval(&self, settings: &Bootstrap) -> Result<Interval, NoStatistic> {
        check_level(settings.level)?;
        let mean = self.mean()?;
        self.standard_error(ClusterCorrection::Cr1)?;
        // Distances from the mean rather than values, so that no sum overflows or loses digits.
        let sums = self.sums(mean);
        let mut random = Xoshiro256PlusPlus::seeded(settings.seed);
        let mut means: Vec<f64> = (0..settings.resamples.get())
            .map(|_| mean + self.resampled_distance(&sums, &mut random))
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - settings.level) / 2.0;
        let end = |share: f64| quantile(&means, share).ok_or(NoStatistic::NoValues);
        Ok(Interval {
            low: end(tail)?,
            high: end(1.0 - tail)?,
            level: settings.level,
            method: IntervalMethod::ClusterBootstrap,
        })
    }

    /// The t test of the mean against 0 with the cluster-robust standard error. Its n is the number of clusters.
    ///
    /// # Errors
    ///
    /// As [`standard_error`](Self::standard_error), and where all values are 0.
    pub fn t_test(
        &self,
        correction: ClusterCorrection,
        alternative: Alternative,
    ) -> Result<TestResult, NoStatistic> {
        self.check_change()?;
        let error = self.standard_error(correction)?;
        let t = self.mean()? / error.value;
        let method = match correction {
            ClusterCorrection::Cr1 => TestMethod::ClusterCr1,
            ClusterCorrection::Cr2 => TestMethod::ClusterCr2,
        };
        Ok(t_test(method, self.len(), t, error.degrees, alternative))
    }

    /// The randomization test of differences against 0 that swaps all cases of a cluster at once.
    ///
    /// The statistic is the mean. The p value is exact for up to 20 clusters whose differences do not add up to 0.
    ///
    /// # Errors
    ///
    /// Undefined without values, if one is not finite, where all are 0, and for a single cluster.
    pub fn randomization_test(&self, test: &PairedTest) -> Result<TestResult, NoStatistic> {
        self.check_change()?;
        if self.len() < 2 {
            return Err(NoStatistic::OneCluster);
        }
        let p_value = test.p_value_of(&self.sums(0.0));
        let (p_value, is_exact) = p_value.ok_or(NoStatistic::NotFinite)?;
        Ok(TestResult {
            method: TestMethod::ClusterRandomization,
            n: self.len(),
            statistic: self.mean()?,
            degrees: None,
            is_exact,
            p_value,
        })
    }

    /// The values of each cluster minus `center`, added up.
    fn sums(&self, center: f64) -> Vec<f64> {
        let mut rest = self.values.as_slice();
        let sums = self.sizes.iter().map(|size| {
            let (cluster, others) = rest.split_at(*size);
            rest = others;
            let sum: f64 = cluster.iter().map(|value| value - center).sum();
            let sizes: f64 = cluster.iter().map(|value| value.abs() + center.abs()).sum();
            if sum.abs() <= ROUNDING * sizes {
                0.0
            } else {
                sum
            }
        });
        sums.collect()
    }

    /// The sum of each cluster's values, with their number.
    pub(super) fn units(&self) -> Vec<(f64, f64)> {
        let sizes = self.sizes.iter().map(|size| as_f64(*size));
        self.sums(0.0).into_iter().zip(sizes).collect()
    }

    /// The distance of a resample's mean from the centre of `sums`.
    fn resampled_distance(&self, sums: &[f64], random: &mut Xoshiro256PlusPlus) -> f64 {
        let (mut sum, mut n) = (0.0, 0);
        for drawn in (0..self.len()).step_by(2) {
            for index in random
                .index_pair(self.len())
                .into_iter()
                .take(self.len() - drawn)
            {
                sum += sums[index];
                n += self.sizes[index];
            }
        }
        sum / as_f64(n)
    }

    fn check_change(&self) -> Result<(), NoStatistic> {
        check_finite(&self.values)?;
        if self.values.iter().all(|value| value.abs() <= 0.0) {
            return Err(NoStatistic::NothingChanged);
        }
        Ok(())
    }
}
