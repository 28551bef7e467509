//! Change points of series.

use evals_metrics::{ChangePointTest, permutation_test};

use crate::draws::normal;
use crate::random::Random;
use crate::table::{Share, Table};

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    let mut table = Table::new(
        "Series in which Pettitt's test at 5 % reports a change",
        &[
            "change in the middle",
            "8 values",
            "12 values",
            "20 values",
            "40 values",
        ],
    );
    for (name, step) in [
        ("none", 0.0),
        ("1 standard deviation", 1.0),
        ("2 standard deviations", 2.0),
    ] {
        let mut row = vec![name.to_owned()];
        for n in [8, 12, 20, 40] {
            let mut random = Random::seeded(100);
            let mut share = Share::default();
            for seed in (0..).take(trials) {
                let value = |index| normal(&mut random) + if index >= n / 2 { step } else { 0.0 };
                let values: Vec<f64> = (0..n).map(value).collect();
                let test = ChangePointTest {
                    permutations: 999.try_into().expect("not 0"),
                    seed,
                };
                share.add(
                    test.find(&values)
                        .ok()
                        .map(|found| found.test.p_value <= 0.05),
                );
            }
            row.push(share.percent());
        }
        table.rows.push(row);
    }
    vec![table, windows(trials)]
}

/// Two windows of a series. With memory, each value keeps half of what the one before it was off.
fn windows(trials: usize) -> Table {
    let mut table = Table::new(
        "Windows of a series whose means differ at 5 %",
        &[
            "the newer window",
            "4 and 4 values",
            "7 and 7 values",
            "14 and 14 values",
        ],
    );
    for (name, step, memory) in [
        ("no change", 0.0, 0.0),
        ("no change, each value close to the one before", 0.0, 0.5),
        ("1 standard deviation lower", 1.0, 0.0),
        ("2 standard deviations lower", 2.0, 0.0),
    ] {
        let mut row = vec![name.to_owned()];
        for n in [4, 7, 14] {
            let mut random = Random::seeded(110);
            let mut share = Share::default();
            // Divisions of 28 values are drawn, which takes long.
            for seed in (0..).take(if n > 10 { trials.div_ceil(10) } else { trials }) {
                let mut before = normal(&mut random);
                let mut value = |step: f64| {
                    let own = f64::sqrt(1.0 - memory * memory) * normal(&mut random);
                    before = memory * before + own;
                    before - step
                };
                let older: Vec<f64> = (0..n).map(|_| value(0.0)).collect();
                let newer: Vec<f64> = (0..n).map(|_| value(step)).collect();
                let p_value = permutation_test(&older, &newer, seed);
                share.add(p_value.ok().map(|p_value| p_value <= 0.05));
            }
            row.push(share.percent());
        }
        table.rows.push(row);
    }
    table
}
