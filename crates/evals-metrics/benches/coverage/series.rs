//! Change points of series.

use evals_metrics::ChangePointTest;

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
    vec![table]
}
