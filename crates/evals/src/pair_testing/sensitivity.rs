//! The smallest difference that a comparison would find.

use evals_metrics::{
    ClusterCorrection, Clusters, MeanPower, NoStatistic, PassRatePower, Plan, ROUNDING, Sides,
    VerdictTest, are_verdicts, as_f64, difference,
};

use super::PairTest;

/// If fewer cases changed, their scatter says too little about that of others. With ten changed cases, nine in ten simulated comparisons have a
/// power above 60 % for the difference that they call detectable, where 80 % are promised; with two, half of them have less than 40 %.
pub(crate) const FEWEST_CHANGED: usize = 10;

/// How far the differences of paired values scatter, which decides how small a difference a test finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sensitivity {
    /// How many cases, or clusters.
    n: usize,
    is_clustered: bool,
    /// How many cases, or clusters, changed.
    changed: usize,
    scatter: Scatter,
    /// The least p value of the test.
    least_p_value: f64,
}

/// What a detectable difference in units depends on; see [`Sensitivity::in_units`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SensitivityKey {
    n: usize,
    is_known: bool,
    /// The bits of the share of changed verdicts; `None` for means.
    discordant: Option<u64>,
    /// The bits of the standard deviation; `None` for verdicts.
    deviation: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scatter {
    /// The standard deviation of the differences.
    Deviation(f64),
    /// The share of passes that became failures or the reverse, and the test of these.
    Discordant(f64, VerdictTest),
}

impl Sensitivity {
    /// Reads paired values for this test, which come in `clusters` if there are any.
    pub(crate) fn of(pairs: &[(f64, f64)], clusters: Option<&[usize]>, test: PairTest) -> Self {
        let differences = pairs.iter();
        let differences: Vec<f64> = differences
            .map(|(before, after)| difference(*before, *after))
            .collect();
        if let Some(clusters) = clusters {
            let differences = clusters.iter().copied().zip(differences);
            return Self::of_clusters(&Clusters::new(differences), test);
        }
        let changed = differences.iter().filter(|change| change.abs() > 0.0);
        let (changed, n) = (changed.count(), pairs.len());
        let of_verdicts = match test {
            PairTest::T => None,
            PairTest::Auto => Some(VerdictTest::Score),
            PairTest::Randomization | PairTest::Wilcoxon | PairTest::Sign => {
                Some(VerdictTest::Exact)
            }
        };
        let of_verdicts = of_verdicts.filter(|_| are_verdicts(pairs));
        let scatter = match of_verdicts {
            Some(test) => Scatter::Discordant(as_f64(changed) / as_f64(n), test),
            None => Scatter::Deviation(deviation(&differences)),
        };
        Self {
            n,
            is_clustered: false,
            changed,
            scatter,
            least_p_value: match of_verdicts {
                Some(test) => test.least_p_value(n),
                None => least_of(test, n),
            },
        }
    }

    /// Reads differences in clusters, which count as single values that scatter as their robust standard error says.
    fn of_clusters(clusters: &Clusters, test: PairTest) -> Self {
        let n = clusters.len();
        let error = clusters.standard_error(ClusterCorrection::default());
        let deviation = error.map_or(0.0, |it| it.value) * as_f64(n).sqrt();
        Self {
            n,
            is_clustered: true,
            changed: clusters.changed(),
            scatter: Scatter::Deviation(deviation),
            least_p_value: least_of(test, n),
        }
    }

    /// How many clusters of cases there are; `None` if cases do not come in clusters.
    pub(crate) fn clusters(&self) -> Option<usize> {
        self.is_clustered.then_some(self.n)
    }

    /// The same for differences of the standard deviation 1, and the factor between what is detectable here and there. Verdicts stay as
    /// they are.
    pub(crate) fn in_units(&self) -> (Self, f64) {
        match self.scatter {
            Scatter::Deviation(deviation) if deviation > 0.0 && deviation.is_finite() => {
                let scatter = Scatter::Deviation(1.0);
                (Self { scatter, ..*self }, deviation)
            }
            Scatter::Deviation(_) | Scatter::Discordant(..) => (*self, 1.0),
        }
    }

    /// The same key for equal sensitivities of one test.
    pub(crate) fn key(&self) -> SensitivityKey {
        let (discordant, deviation) = match self.scatter {
            Scatter::Deviation(deviation) => (None, Some(deviation.to_bits())),
            Scatter::Discordant(discordant, _) => (Some(discordant.to_bits()), None),
        };
        SensitivityKey {
            n: self.n,
            is_known: self.changed >= FEWEST_CHANGED,
            discordant,
            deviation,
        }
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
        self.check_changed()?;
        match self.scatter {
            Scatter::Deviation(deviation) => MeanPower { deviation, plan }.cases(size),
            Scatter::Discordant(discordant, test) => PassRatePower {
                discordant: discordant.max(size),
                plan,
                test,
            }
            .cases(size),
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
        if self.n > 1 && self.least_p_value > significance {
            return Err(NoStatistic::OutOfReach);
        }
        self.check_changed()?;
        match self.scatter {
            Scatter::Deviation(deviation) => MeanPower { deviation, plan }.detectable(self.n),
            Scatter::Discordant(discordant, test) => {
                let power = PassRatePower {
                    discordant,
                    plan,
                    test,
                };
                match power.detectable(self.n) {
                    Err(NoStatistic::OutOfReach) => power.detectable_above(self.n),
                    found => found,
                }
            }
        }
    }

    /// Whether enough cases changed to know how changes scatter.
    fn check_changed(&self) -> Result<(), NoStatistic> {
        match self.changed {
            0 => Err(NoStatistic::NothingChanged),
            changed if changed < FEWEST_CHANGED => Err(NoStatistic::FewChanged {
                changed,
                least: FEWEST_CHANGED,
            }),
            _ => Ok(()),
        }
    }
}

/// The least p value that a test of means, ranks or signs can give. Student's test has no such limit, so it is 0.
fn least_of(test: PairTest, n: usize) -> f64 {
    match test {
        PairTest::Auto | PairTest::T => 0.0,
        PairTest::Randomization | PairTest::Wilcoxon | PairTest::Sign => {
            VerdictTest::Exact.least_p_value(n)
        }
    }
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
    let n = as_f64(values.len());
    let mean = values.iter().map(|value| value / n).sum::<f64>();
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (n - 1.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detectable(pairs: &[(f64, f64)]) -> Result<f64, NoStatistic> {
        Sensitivity::of(pairs, None, PairTest::Randomization).detectable(0.05, 0.8)
    }

    #[test]
    fn five_pairs_cannot_be_significant_by_swaps_whatever_they_show() {
        let pairs: Vec<(f64, f64)> = (0..5)
            .map(|case| (0.9, 0.5 + f64::from(case) / 100.0))
            .collect();
        assert_eq!(detectable(&pairs), Err(NoStatistic::OutOfReach));
        let by_t = Sensitivity::of(&pairs, None, PairTest::T).detectable(0.05, 0.8);
        assert_eq!(
            by_t,
            Err(NoStatistic::FewChanged {
                changed: 5,
                least: 10
            })
        );
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
        let scatter = Sensitivity::of(&verdicts, None, PairTest::Randomization);
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
        let mut pairs = vec![(1.0, 1.0); 600];
        pairs[..10].fill((1.0, 0.0));
        let strictest_of_20 = |pairs: &[(f64, f64)]| {
            let found = Sensitivity::of(pairs, None, PairTest::Randomization);
            found.detectable(0.05 / 20.0, 0.8).unwrap()
        };
        let size = strictest_of_20(&pairs);
        // 0.0167 changed. 10 changes in one direction are the fewest significant ones, because 2 / 2^10 is below 0.0025. At least 10 of 600
        // cases change with a probability of 80 % if the share is 0.0208: `scipy.stats.binom.sf(9, 600, 0.0208)`.
        assert!((size - 0.020_803).abs() < 1e-5, "{size}");
        pairs[10..].fill((1.0, 0.0));
        assert!(strictest_of_20(&pairs) < 0.5);
    }

    #[test]
    fn two_changed_cases_do_not_say_what_is_detectable() {
        let mut pairs = vec![(0.5, 0.5); 26];
        pairs[..2].fill((0.5, 1.0));
        for test in [PairTest::Auto, PairTest::Randomization, PairTest::T] {
            let found = Sensitivity::of(&pairs, None, test);
            let few = NoStatistic::FewChanged {
                changed: 2,
                least: 10,
            };
            assert_eq!(found.detectable(0.05, 0.8), Err(few));
            assert_eq!(found.cases_for(0.02, 0.05, 0.8), Err(few));
        }
        assert_eq!(
            detectable(&pairs).unwrap_err().to_string(),
            "too few changes to say: 2, and it takes 10"
        );
    }
}
