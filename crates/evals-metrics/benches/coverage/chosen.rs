//! The interval and the test that reports choose for a change, with few cases.

use evals_metrics::{Bootstrap, PairTest, PairedTest, Scale, mean_interval};

use crate::draws::{DIFFERENCES, Shape, VALUES, sparse};
use crate::random::Random;
use crate::table::{Share, Table};

const SIZES: [usize; 3] = [10, 20, 30];
const HEADER: [&str; 5] = ["values", "method", "n = 10", "n = 20", "n = 30"];

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    let [mut intervals, mut alarms, mut means] = [
        "95 % intervals of a change of few cases that cover it",
        "5 % tests of few cases that report a change where there is none",
        "95 % intervals of a mean of few cases that cover it",
    ]
    .map(|title| Table::new(title, &HEADER));
    for (seed, shape) in (60..).zip([DIFFERENCES[0], DIFFERENCES[1], sparse()]) {
        let (covered, alarmed) = changes(shape, seed, trials);
        intervals.rows.extend(covered);
        alarms.rows.extend(alarmed);
    }
    for (seed, shape) in (70..).zip([VALUES[0], VALUES[1], VALUES[3]]) {
        means.rows.extend(of_mean(shape, seed, trials));
    }
    vec![intervals, alarms, means]
}

/// The two values of a case whose difference is `change`.
fn pair(change: f64) -> (f64, f64) {
    if change.abs() > 0.0 {
        ((-change).max(0.0), change.max(0.0))
    } else {
        (1.0, 1.0)
    }
}

fn settings(seed: u64) -> Bootstrap {
    Bootstrap {
        resamples: 2_000.try_into().expect("not 0"),
        seed,
        ..Bootstrap::default()
    }
}

fn changes(shape: Shape, seed: u64, trials: usize) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let rows = |methods: [&str; 3]| methods.map(|it| vec![shape.name.to_owned(), it.to_owned()]);
    let mut covered = rows([
        "percentile bootstrap",
        "`--test auto`",
        "`--test randomization`",
    ]);
    let mut alarmed = rows([
        "percentile bootstrap without 0",
        "`--test auto`",
        "`--test randomization`",
    ]);
    for n in SIZES {
        let mut random = Random::seeded(seed);
        let mut shares = [[Share::default(); 2]; 3];
        for seed in (0..).take(trials) {
            let values = shape.sample(n, &mut random);
            let pairs: Vec<(f64, f64)> = values.iter().map(|change| pair(*change)).collect();
            let bootstrap = mean_interval(&values, None, Scale::Amount, &settings(seed)).ok();
            let by = |method| {
                let test = PairedTest {
                    method,
                    resamples: 2_000.try_into().expect("not 0"),
                    seed,
                    ..PairedTest::default()
                };
                test.infer(&pairs, None, Scale::Share).interval.ok()
            };
            let intervals = [bootstrap, by(PairTest::Auto), by(PairTest::Randomization)];
            for ([covers, alarms], interval) in shares.iter_mut().zip(intervals) {
                covers.cover(interval, shape.mean);
                let excludes = interval.is_some_and(|it| it.low > 0.0 || it.high < 0.0);
                alarms.add(Some(excludes));
            }
        }
        for (place, [covers, alarms]) in shares.into_iter().enumerate() {
            covered[place].push(covers.percent());
            alarmed[place].push(alarms.percent());
        }
    }
    (covered.into(), alarmed.into())
}

fn of_mean(shape: Shape, seed: u64, trials: usize) -> Vec<Vec<String>> {
    let mut rows = ["percentile bootstrap", "the one of reports"]
        .map(|method| vec![shape.name.to_owned(), method.to_owned()]);
    for n in SIZES {
        let mut random = Random::seeded(seed);
        let mut shares = [Share::default(); 2];
        for seed in (0..).take(trials) {
            let values = shape.sample(n, &mut random);
            let settings = settings(seed);
            let intervals = [
                mean_interval(&values, None, Scale::Amount, &settings),
                mean_interval(&values, None, Scale::Share, &settings),
            ];
            for (share, interval) in shares.iter_mut().zip(intervals) {
                share.cover(interval.ok(), shape.mean);
            }
        }
        for (row, share) in rows.iter_mut().zip(shares) {
            row.push(share.percent());
        }
    }
    rows.into()
}
