//! One difference with everything that its test says.

use std::cmp::Ordering;

use evals_metrics::{
    Bootstrap, Clusters, EffectSize, NoStatistic, PairedDifference, PairedTest, TestResult,
    cohens_dz, difference,
};

use super::sensitivity::Sensitivity;
use super::{PairTest, PairTesting};

/// A tested difference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tested {
    pub(crate) difference: PairedDifference,
    /// Its p value is not corrected.
    result: Result<TestResult, NoStatistic>,
    /// The mean difference in standard deviations of the differences, without an interval if cases come in clusters.
    pub(crate) effect: Option<EffectSize>,
    pub(crate) sensitivity: Sensitivity,
    /// The number of clusters of cases; `None` if cases do not come in clusters.
    pub(crate) clusters: Option<usize>,
}

impl Tested {
    /// Tests paired values, which come in `clusters` if there are any: one for each pair. `None` without values, or with one that is not
    /// finite.
    pub(crate) fn of(
        pairs: &[(f64, f64)],
        clusters: Option<&[usize]>,
        testing: &PairTesting,
    ) -> Option<Self> {
        let (found, result) = testing.method.compare(pairs, testing.paired)?;
        let changes = pairs.iter();
        let changes: Vec<f64> = changes
            .map(|(before, after)| difference(*before, *after))
            .collect();
        if let Some(clusters) = clusters {
            let clustered = clusters.iter().copied().zip(changes.iter().copied());
            let clustered = Clusters::new(clustered);
            return Some(Self::by_cluster(&found, &clustered, &changes, testing));
        }
        Some(Self {
            effect: cohens_dz(&changes, testing.paired.level).ok(),
            sensitivity: Sensitivity::of(pairs, &changes, testing.method),
            clusters: None,
            difference: found,
            result,
        })
    }

    /// Replaces interval, test and sensitivity of a difference by those of its clusters.
    fn by_cluster(
        found: &PairedDifference,
        clusters: &Clusters,
        changes: &[f64],
        testing: &PairTesting,
    ) -> Self {
        let bootstrap = Bootstrap {
            level: testing.paired.level,
            seed: testing.paired.seed,
            ..Bootstrap::default()
        };
        let test = testing.method.by_cluster(clusters, &testing.paired);
        let difference = PairedDifference {
            interval: clusters.bootstrap_interval(&bootstrap).ok(),
            p_value: test.map_or(found.p_value, |it| it.p_value),
            method: test.map_or(found.method, |it| it.method),
            is_exact: test.map_or(found.is_exact, |it| it.is_exact),
            ..found.clone()
        };
        // The interval takes every case for an independent one. The effect itself only describes how cases scatter.
        let effect = cohens_dz(changes, testing.paired.level).ok();
        Self {
            result: test,
            effect: effect.map(|effect| EffectSize {
                interval: None,
                ..effect
            }),
            sensitivity: Sensitivity::of_clusters(clusters, testing.method),
            clusters: Some(clusters.len()),
            difference,
        }
    }

    /// Repeats the randomization test with more swaps if it made too few for its p value. The values are those of [`of`](Self::of).
    pub(crate) fn refine(
        &mut self,
        pairs: &[(f64, f64)],
        clusters: Option<&[usize]>,
        testing: &PairTesting,
        finer: &PairedTest,
    ) {
        let Ok(result) = &mut self.result else {
            return;
        };
        if testing.method != PairTest::Randomization
            || finer.resamples <= testing.paired.resamples
            || !testing.paired.is_rough(result.p_value)
        {
            return;
        }
        let changes = pairs.iter();
        let changes = changes.map(|(before, after)| difference(*before, *after));
        let p_value = match clusters {
            None => finer.p_value(&changes.collect::<Vec<_>>()),
            Some(clusters) => {
                let clustered = Clusters::new(clusters.iter().copied().zip(changes));
                let found = clustered.randomization_test(finer);
                found.ok().map(|found| found.p_value)
            }
        };
        if let Some(p_value) = p_value {
            result.p_value = p_value;
            self.difference.p_value = p_value;
        }
    }

    /// Whether the value of any case changed.
    pub(crate) fn is_changed(&self) -> bool {
        self.difference.equal() < self.difference.n
    }

    /// The p value, not corrected.
    ///
    /// # Errors
    ///
    /// The reason why the test gives no p value.
    pub(crate) fn p_value(&self) -> Result<f64, NoStatistic> {
        self.result.map(|it| it.p_value)
    }

    /// [`Greater`](Ordering::Greater) if the test finds that values rose, and [`Less`](Ordering::Less) if it finds that they fell.
    pub(crate) fn direction(&self) -> Ordering {
        let direction = self.result.ok().and_then(|it| it.direction());
        direction.unwrap_or(Ordering::Equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_case_in_one_cluster_add_nothing() {
        let alone: Vec<(f64, f64)> = (0..12)
            .map(|case| (0.0, f64::from(case % 5) / 10.0 - 0.1))
            .collect();
        let twice: Vec<(f64, f64)> = alone.iter().flat_map(|pair| [*pair, *pair]).collect();
        let clusters: Vec<usize> = (0..12).flat_map(|cluster| [cluster, cluster]).collect();
        for method in [PairTest::Randomization, PairTest::T] {
            let testing = PairTesting {
                method,
                ..PairTesting::default()
            };
            let one = Tested::of(&alone, None, &testing).unwrap();
            let copied = Tested::of(&twice, Some(&clusters), &testing).unwrap();
            let naive = Tested::of(&twice, None, &testing).unwrap();
            let p = |tested: &Tested| tested.p_value().unwrap();
            assert!((p(&one) - p(&copied)).abs() < 1e-12, "{method:?}");
            assert!(p(&naive) < p(&one) / 2.0, "{method:?}");
            let detectable = |it: &Tested| it.sensitivity.detectable(0.05, 0.8).unwrap();
            assert!((detectable(&one) - detectable(&copied)).abs() < 1e-9);
        }
    }

    #[test]
    fn one_cluster_has_no_p_value() {
        let pairs = [(0.0, 0.5), (0.0, 0.3), (0.0, 0.1)];
        let tested = Tested::of(&pairs, Some(&[0, 0, 0]), &PairTesting::default()).unwrap();
        assert_eq!(tested.p_value(), Err(NoStatistic::OneCluster));
        assert_eq!(tested.difference.interval, None);
    }
}
