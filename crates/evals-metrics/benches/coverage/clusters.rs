//! Values in clusters, with methods that know of them and methods that do not.

use evals_metrics::{
    Alternative, Bootstrap, ClusterCorrection, Clusters, PairedTest, Scale, mean_interval, paired_t,
};

use crate::draws::normal;
use crate::random::Random;
use crate::table::{Share, Table};

const INTERVALS: [&str; 4] = [
    "Student's t, ignoring clusters",
    "cluster t (CR1)",
    "cluster t (CR2)",
    "cluster bootstrap",
];
const TESTS: [&str; 4] = [
    "paired t, ignoring clusters",
    "cluster t (CR1)",
    "cluster t (CR2)",
    "randomization by cluster",
];

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    let header = ["clusters", "method", "G = 10", "G = 30", "G = 100"];
    let mut coverage = Table::new("95 % intervals of a clustered mean that cover it", &header);
    let mut alarms = Table::new(
        "5 % tests of clustered differences that report one where the mean is 0",
        &header,
    );
    for (name, is_even) in [("5 each", true), ("1 to 17", false)] {
        let mut covering = INTERVALS.map(|method| vec![name.to_owned(), method.to_owned()]);
        let mut alarming = TESTS.map(|method| vec![name.to_owned(), method.to_owned()]);
        for count in [10, 30, 100] {
            let mut random = Random::seeded(60);
            let (mut covered, mut alarmed) = ([Share::default(); 4], [Share::default(); 4]);
            for seed in (0..).take(trials) {
                let drawn = draw(count, is_even, &mut random);
                let values: Vec<f64> = drawn.iter().map(|(_, value)| *value).collect();
                let clusters = Clusters::new(drawn);
                let settings = Bootstrap {
                    resamples: 1_000.try_into().expect("not 0"),
                    seed,
                    ..Bootstrap::default()
                };
                let test = PairedTest {
                    resamples: 1_000.try_into().expect("not 0"),
                    seed,
                    ..PairedTest::default()
                };
                let intervals = [
                    mean_interval(&values, None, Scale::Open, &settings),
                    clusters.interval(ClusterCorrection::Cr1, 0.95),
                    clusters.interval(ClusterCorrection::Cr2, 0.95),
                    clusters.bootstrap_interval(&settings),
                ];
                let tests = [
                    paired_t(&values, Alternative::TwoSided),
                    clusters.t_test(ClusterCorrection::Cr1, Alternative::TwoSided),
                    clusters.t_test(ClusterCorrection::Cr2, Alternative::TwoSided),
                    clusters.randomization_test(&test),
                ];
                for (share, interval) in covered.iter_mut().zip(intervals) {
                    share.cover(interval.ok(), 0.0);
                }
                for (share, test) in alarmed.iter_mut().zip(tests) {
                    share.add(test.ok().map(|test| test.p_value <= 0.05));
                }
            }
            for (row, share) in covering
                .iter_mut()
                .zip(covered)
                .chain(alarming.iter_mut().zip(alarmed))
            {
                row.push(share.percent());
            }
        }
        coverage.rows.extend(covering);
        alarms.rows.extend(alarming);
    }
    vec![coverage, alarms]
}

/// Values with the mean 0, of which 30 % of the variance is between clusters.
fn draw(count: usize, is_even: bool, random: &mut Random) -> Vec<(usize, f64)> {
    let mut drawn = Vec::new();
    for cluster in 0..count {
        let level = 0.3_f64.sqrt() * normal(random);
        let mut size = 5;
        if !is_even {
            // A fifth of the clusters has a single value; the mean is about five.
            size = 1;
            while size < 17 && random.uniform() < 0.8 {
                size += 1;
            }
        }
        for _ in 0..size {
            drawn.push((cluster, level + 0.7_f64.sqrt() * normal(random)));
        }
    }
    drawn
}
