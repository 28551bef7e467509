//! Tests of paired differences: false alarms and power.

use evals_metrics::{
    Alternative, NoStatistic, PairedTest, TestResult, paired_t, sign_test, wilcoxon,
};

use crate::draws::{DIFFERENCES, Shape};
use crate::random::Random;
use crate::table::{Share, Table, as_f64};

const TESTS: [&str; 4] = [
    "randomization (McNemar for 0/1)",
    "paired t",
    "Wilcoxon",
    "sign",
];

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    let sizes = ["differences", "test", "n = 30", "n = 100", "n = 300"];
    let mut alarms = Table::new(
        "5 % tests that report a difference where the mean is 0",
        &sizes,
    );
    let mut power = Table::new("5 % tests that report a difference which is there", &sizes);
    for (seed, shape) in (40..).zip(DIFFERENCES) {
        alarms.rows.extend(rows(shape, |_| 0.0, seed, trials));
        // 2.8 standard errors: a t test of normal differences has a power of 80 %.
        let deviation = deviation(shape);
        let powers = rows(shape, |n| 2.8 * deviation / as_f64(n).sqrt(), seed, trials);
        // Where a test cries wolf, its power means nothing.
        let keeps_level = |row: &Vec<String>| {
            shape.name != "skewed" || !["Wilcoxon", "sign"].contains(&row[1].as_str())
        };
        power.rows.extend(powers.into_iter().filter(keeps_level));
    }
    vec![alarms, power]
}

fn rows(shape: Shape, effect: impl Fn(usize) -> f64, seed: u64, trials: usize) -> Vec<Vec<String>> {
    let mut rows = TESTS.map(|test| vec![shape.name.to_owned(), test.to_owned()]);
    for n in [30, 100, 300] {
        let mut random = Random::seeded(seed);
        let effect = effect(n);
        let mut shares = [Share::default(); TESTS.len()];
        for seed in (0..).take(trials) {
            let mut values = shape.sample(n, &mut random);
            shift(shape, &mut values, effect, &mut random);
            for (share, p_value) in shares.iter_mut().zip(p_values(&values, seed)) {
                share.add(Some(p_value <= 0.05));
            }
        }
        for (row, share) in rows.iter_mut().zip(shares) {
            row.push(share.percent());
        }
    }
    rows.into()
}

/// Moves the mean of the differences by `effect`. Verdicts stay verdicts: losses become gains.
fn shift(shape: Shape, values: &mut [f64], effect: f64, random: &mut Random) {
    for value in values {
        if !shape.name.starts_with("0/1") {
            // Unchanged cases stay unchanged.
            let moved = if shape.name == "skewed" {
                effect
            } else {
                effect / 0.9
            };
            *value += if value.abs() > 0.0 { moved } else { 0.0 };
        } else if *value < 0.0 && random.uniform() < effect / 0.2 {
            *value = 1.0;
        }
    }
}

fn deviation(shape: Shape) -> f64 {
    let mut random = Random::seeded(7);
    let values = shape.sample(200_000, &mut random);
    (values.iter().map(|value| value * value).sum::<f64>() / as_f64(values.len())).sqrt()
}

/// A test that is undefined because nothing changed reports nothing.
fn p_values(differences: &[f64], seed: u64) -> [f64; TESTS.len()] {
    let test = PairedTest {
        resamples: 1_000.try_into().expect("not 0"),
        seed,
        ..PairedTest::default()
    };
    let p_value =
        |result: Result<TestResult, NoStatistic>| result.map_or(1.0, |result| result.p_value);
    [
        test.p_value(differences).unwrap_or(1.0),
        p_value(paired_t(differences, Alternative::TwoSided)),
        p_value(wilcoxon(differences, Alternative::TwoSided)),
        p_value(sign_test(differences, Alternative::TwoSided)),
    ]
}
