//! One difference with everything that its test says.

use std::cmp::Ordering;

use evals_metrics::{
    EffectSize, NoStatistic, PairedDifference, PairedTest, Scale, TestMethod, TestResult,
    cohens_dz, difference,
};

use super::PairTesting;
use super::sensitivity::Sensitivity;

/// A tested difference.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tested {
    /// Its p value is not corrected.
    pub(crate) difference: PairedDifference,
    result: Result<TestResult, NoStatistic>,
    /// The mean difference in standard deviations of the differences, without an interval if cases come in clusters.
    pub(crate) effect: Option<EffectSize>,
    pub(crate) sensitivity: Sensitivity,
}

impl Tested {
    /// Tests paired values, which come in `clusters` if there are any: one for each pair. `None` without values, or with one that is not
    /// finite.
    pub(crate) fn of(
        pairs: &[(f64, f64)],
        clusters: Option<&[usize]>,
        scale: Scale,
        test: &PairedTest,
    ) -> Option<Self> {
        let found = test.infer(pairs, clusters, scale);
        let changes = pairs.iter();
        let changes: Vec<f64> = changes
            .map(|(before, after)| difference(*before, *after))
            .collect();
        // The interval takes every case for an independent one. The effect itself only describes how cases scatter.
        let effect = cohens_dz(&changes, test.level)
            .ok()
            .map(|effect| EffectSize {
                interval: effect.interval.filter(|_| clusters.is_none()),
                ..effect
            });
        Some(Self {
            difference: PairedDifference::of(pairs, &found)?,
            result: found.test,
            effect,
            sensitivity: Sensitivity::of(pairs, clusters, test.method),
        })
    }

    /// Whether the test made too few random swaps for its p value, and `finer` makes more.
    pub(crate) fn is_rough(&self, testing: &PairTesting, finer: &PairedTest) -> bool {
        let is_drawn = self.result.is_ok_and(|it| {
            let swaps = [TestMethod::Randomization, TestMethod::ClusterRandomization];
            swaps.contains(&it.method) && !it.is_exact
        });
        let is_rough = |p_value| testing.paired.is_rough(p_value);
        is_drawn
            && finer.resamples > testing.paired.resamples
            && self.difference.p_value.is_some_and(is_rough)
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
    use evals_metrics::PairTest;

    use super::*;

    fn tested(pairs: &[(f64, f64)], clusters: Option<&[usize]>, method: PairTest) -> Tested {
        let test = PairedTest {
            method,
            ..PairedTest::default()
        };
        Tested::of(pairs, clusters, Scale::Open, &test).unwrap()
    }

    #[test]
    fn copies_of_a_case_in_one_cluster_add_nothing() {
        let alone: Vec<(f64, f64)> = (0..15)
            .map(|case| (0.0, f64::from(case % 5) / 10.0 - 0.1))
            .collect();
        let twice: Vec<(f64, f64)> = alone.iter().flat_map(|pair| [*pair, *pair]).collect();
        let clusters: Vec<usize> = (0..15).flat_map(|cluster| [cluster, cluster]).collect();
        for method in [PairTest::Auto, PairTest::Randomization, PairTest::T] {
            let one = tested(&alone, None, method);
            let copied = tested(&twice, Some(&clusters), method);
            let naive = tested(&twice, None, method);
            let p = |tested: &Tested| tested.p_value().unwrap();
            assert!((p(&one) - p(&copied)).abs() < 1e-12, "{method:?}");
            assert!(p(&naive) < p(&one) / 2.0, "{method:?}");
            let detectable = |it: &Tested| it.sensitivity.detectable(0.05, 0.8);
            let [one, copied] = [&one, &copied].map(|it| detectable(it).unwrap());
            assert!((one - copied).abs() < 1e-9);
        }
    }

    #[test]
    fn one_cluster_has_no_p_value() {
        let pairs = [(0.0, 0.5), (0.0, 0.3), (0.0, 0.1)];
        let tested = tested(&pairs, Some(&[0, 0, 0]), PairTest::Auto);
        assert_eq!(tested.p_value(), Err(NoStatistic::OneCluster));
        assert_eq!(tested.difference.interval, None);
    }
}
