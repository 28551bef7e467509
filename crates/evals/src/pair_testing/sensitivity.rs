//! The smallest difference that a comparison would find.

use evals_metrics::{
    ClusterCorrection, Clusters, MeanPower, NoStatistic, PassRatePower, Plan, Sides,
};

use super::PairTest;

/// Values whose range is below this share of their size are equal: rounding alone may cause it.
const ROUNDING: f64 = 1e-12;

/// The least two-sided p value that swapping or ranking so many pairs can give: all of them changed in one direction.
pub(crate) fn least_p_value(pairs: usize) -> f64 {
    let halvings = i32::try_from(pairs).unwrap_or(i32::MAX);
    2_f64.powi(1 - halvings)
}

/// How far the differences of paired values scatter, which decides how small a difference a test finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sensitivity {
    n: usize,
    scatter: Scatter,
    /// The least p value of the test.
    least_p_value: f64,
}

/// What a detectable difference in units depends on; see [`Sensitivity::in_units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SensitivityKey {
    n: usize,
    /// The bits of the share of changed verdicts; `None` for means.
    discordant: Option<u64>,
    /// The bits of the standard deviation; `None` for verdicts.
    deviation: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scatter {
    /// The standard deviation of the differences.
    Deviation(f64),
    /// The share of passes that became failures or the reverse.
    Discordant(f64),
}

impl Sensitivity {
    /// Reads paired values for this test.
    pub(crate) fn of(pairs: &[(f64, f64)], differences: &[f64], test: PairTest) -> Self {
        let changed = differences.iter().filter(|change| change.abs() > 0.0);
        let scatter = if are_verdicts(pairs) {
            Scatter::Discordant(count(changed.count()) / count(pairs.len()))
        } else {
            Scatter::Deviation(deviation(differences))
        };
        Self {
            n: pairs.len(),
            scatter,
            least_p_value: least_of(test, pairs.len()),
        }
    }

    /// Reads differences in clusters, which count as single values that scatter as their robust standard error says.
    pub(crate) fn of_clusters(clusters: &Clusters, test: PairTest) -> Self {
        let n = clusters.len();
        let error = clusters.standard_error(ClusterCorrection::default());
        let deviation = error.map_or(0.0, |it| it.value) * count(n).sqrt();
        Self {
            n,
            scatter: Scatter::Deviation(deviation),
            least_p_value: least_of(test, n),
        }
    }

    /// The same for differences of the standard deviation 1, and the factor between what is detectable here and there. Verdicts stay as
    /// they are.
    pub(crate) fn in_units(&self) -> (Self, f64) {
        match self.scatter {
            Scatter::Deviation(deviation) if deviation > 0.0 && deviation.is_finite() => {
                let scatter = Scatter::Deviation(1.0);
                (Self { scatter, ..*self }, deviation)
            }
            Scatter::Deviation(_) | Scatter::Discordant(_) => (*self, 1.0),
        }
    }

    /// The same key for equal sensitivities of one test.
    pub(crate) fn key(&self) -> SensitivityKey {
        let (discordant, deviation) = match self.scatter {
            Scatter::Deviation(deviation) => (None, Some(deviation.to_bits())),
            Scatter::Discordant(discordant) => (Some(discordant.to_bits()), None),
        };
        SensitivityKey {
            n: self.n,
            discordant,
            deviation,
        }
    }

    /// Whether any difference between so many cases can be significant.
    pub(crate) fn is_in_reach(&self, significance: f64) -> bool {
        self.least_p_value <= significance
    }

    /// How many cases a two-sided test at a level of significance needs to find a true difference of `size` with a probability of `power`,
    /// if differences scatter as they do here. A pass rate that changes by `size` changes the verdicts of such a share of the cases at
    /// least, even where fewer changed here.
    pub(crate) fn cases_for(
        &self,
        size: f64,
        significance: f64,
        power: f64,
    ) -> Result<usize, NoStatistic> {
        let plan = Plan {
            significance,
            power,
            sides: Sides::Two,
        };
        match self.scatter {
            Scatter::Deviation(deviation) => MeanPower { deviation, plan }.cases(size),
            Scatter::Discordant(discordant) => {
                let discordant = discordant.max(size);
                PassRatePower { discordant, plan }.cases(size)
            }
        }
    }

    /// The smallest true difference that a two-sided test at a level of significance finds with a probability of `power`, if differences
    /// scatter as they do here. Where too few verdicts changed for any, it is the smallest that changes more verdicts.
    pub(crate) fn detectable(&self, significance: f64, power: f64) -> Result<f64, NoStatistic> {
        let plan = Plan {
            significance,
            power,
            sides: Sides::Two,
        };
        if self.n > 1 && !self.is_in_reach(significance) {
            return Err(NoStatistic::OutOfReach);
        }
        match self.scatter {
            Scatter::Deviation(deviation) => MeanPower { deviation, plan }.detectable(self.n),
            Scatter::Discordant(discordant) => {
                let power = PassRatePower { discordant, plan };
                match power.detectable(self.n) {
                    Err(NoStatistic::OutOfReach) => power.detectable_above(self.n),
                    found => found,
                }
            }
        }
    }
}

/// The least p value that a test can give. Student's test has no such limit, so it is 0.
fn least_of(test: PairTest, n: usize) -> f64 {
    match test {
        PairTest::T => 0.0,
        PairTest::Randomization | PairTest::Wilcoxon | PairTest::Sign => least_p_value(n),
    }
}

/// Whether all values are passes and failures.
#[expect(
    clippy::float_cmp,
    reason = "a pass is exactly 1 and a failure exactly 0"
)]
pub(crate) fn are_verdicts(pairs: &[(f64, f64)]) -> bool {
    let is_verdict = |value: f64| value == 0.0 || value == 1.0;
    let mut pairs = pairs.iter();
    pairs.all(|(before, after)| is_verdict(*before) && is_verdict(*after))
}

/// The standard deviation with n - 1 in the denominator; 0 below two values, and for values that differ by rounding only.
fn deviation(values: &[f64]) -> f64 {
    let range = |ends: Option<(f64, f64)>, value: &f64| match ends {
        None => Some((*value, *value)),
        Some((low, high)) => Some((low.min(*value), high.max(*value))),
    };
    let Some((low, high)) = values.iter().fold(None, range) else {
        return 0.0;
    };
    if high - low <= ROUNDING * low.abs().max(high.abs()) {
        return 0.0;
    }
    let n = count(values.len());
    let mean = values.iter().map(|value| value / n).sum::<f64>();
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (n - 1.0)).sqrt()
}

#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detectable(pairs: &[(f64, f64)]) -> Result<f64, NoStatistic> {
        let differences: Vec<f64> = pairs.iter().map(|(before, after)| after - before).collect();
        Sensitivity::of(pairs, &differences, PairTest::Randomization).detectable(0.05, 0.8)
    }

    #[test]
    fn five_pairs_cannot_be_significant_by_swaps_whatever_they_show() {
        let pairs: Vec<(f64, f64)> = (0..5)
            .map(|case| (0.9, 0.5 + f64::from(case) / 100.0))
            .collect();
        assert_eq!(detectable(&pairs), Err(NoStatistic::OutOfReach));
        let differences: Vec<f64> = pairs.iter().map(|(before, after)| after - before).collect();
        let by_t = Sensitivity::of(&pairs, &differences, PairTest::T).detectable(0.05, 0.8);
        assert!(by_t.is_ok(), "{by_t:?}");
    }

    #[test]
    fn four_times_the_cases_halve_what_is_detectable() {
        let pairs = |n: usize| -> Vec<(f64, f64)> {
            (0..n)
                .map(|case| (0.5, if case % 2 == 0 { 0.4 } else { 0.6 }))
                .collect()
        };
        let few = detectable(&pairs(100)).unwrap();
        let many = detectable(&pairs(400)).unwrap();
        // About 2.8 standard errors, of 0.1 / √100.
        assert!((few - 0.0283).abs() < 5e-4, "{few}");
        assert!((few / many - 2.0).abs() < 0.03, "{few} {many}");
    }

    #[test]
    fn a_smaller_difference_takes_more_cases() {
        let verdicts: Vec<(f64, f64)> = (0..100)
            .map(|case| (1.0, if case < 10 { 0.0 } else { 1.0 }))
            .collect();
        let differences: Vec<f64> = verdicts
            .iter()
            .map(|(before, after)| after - before)
            .collect();
        let scatter = Sensitivity::of(&verdicts, &differences, PairTest::Randomization);
        // docs/statistics.md: one verdict in ten changes, and a change of the pass rate by 0.03 takes 920 questions.
        assert_eq!(scatter.cases_for(0.03, 0.05, 0.8), Ok(920));
        let above = scatter.cases_for(0.2, 0.05, 0.8).unwrap();
        assert!((20..100).contains(&above), "a fifth has to change: {above}");
        assert_eq!(
            scatter.cases_for(0.0, 0.05, 0.8),
            Err(NoStatistic::NoEffect)
        );
    }

    #[test]
    fn equal_differences_detect_nothing() {
        assert_eq!(detectable(&[(0.2, 0.3); 30]), Err(NoStatistic::NoDeviation));
        assert_eq!(
            detectable(&[(1.0, 1.0); 30]),
            Err(NoStatistic::NothingChanged)
        );
    }

    #[test]
    fn a_difference_above_the_share_of_changed_verdicts_is_detectable() {
        let mut pairs = vec![(1.0, 1.0); 60];
        pairs[..5].fill((1.0, 0.0));
        let size = detectable(&pairs).unwrap();
        // At least 6 of 60 cases fail with this probability of 80 %; 6 changes in one direction are the fewest significant ones.
        assert!((size - 0.1286).abs() < 1e-3, "{size}");
        pairs[5..].fill((1.0, 0.0));
        assert!(detectable(&pairs).unwrap() < 0.5);
    }
}
