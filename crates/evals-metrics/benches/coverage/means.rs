//! Intervals of means and of effect sizes.

use std::f64::consts::E;

use evals_metrics::{Bootstrap, Scale, cohens_dz, hedges_g, mean_interval};

use crate::draws::{VALUES, normal};
use crate::random::Random;
use crate::table::{Share, Table};

/// Draws a difference.
type Draw = fn(&mut Random) -> f64;

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    vec![means(trials), effects(trials)]
}

fn means(trials: usize) -> Table {
    let mut table = Table::new(
        "95 % intervals of a mean that cover it",
        &["values", "method", "n = 30", "n = 100", "n = 300"],
    );
    let settings = Bootstrap {
        resamples: 2_000.try_into().expect("not 0"),
        ..Bootstrap::default()
    };
    // The interval of a change is another one.
    let values = (1..)
        .zip(VALUES)
        .filter(|(_, shape)| !shape.name.starts_with("difference"));
    for (index, shape) in values {
        let is_verdict = shape.name.starts_with("0/1");
        let of_reports = if is_verdict { "Wilson" } else { "Student's t" };
        let mut rows = ["percentile bootstrap", of_reports]
            .map(|method| vec![shape.name.to_owned(), method.to_owned()]);
        for n in [30, 100, 300] {
            let mut random = Random::seeded(index);
            let mut shares = [Share::default(); 2];
            for seed in (0..).take(trials) {
                let values = shape.sample(n, &mut random);
                let settings = Bootstrap { seed, ..settings };
                for (share, scale) in shares.iter_mut().zip([Scale::Amount, Scale::Open]) {
                    let interval = mean_interval(&values, None, scale, &settings).ok();
                    share.cover(interval, shape.mean);
                }
            }
            for (row, share) in rows.iter_mut().zip(shares) {
                row.push(share.percent());
            }
        }
        table.rows.extend(rows);
    }
    table
}

fn effects(trials: usize) -> Table {
    let mut table = Table::new(
        "95 % intervals of an effect size that cover it",
        &["differences", "effect size", "n = 30", "n = 100", "n = 300"],
    );
    let shapes: [(&str, Draw); 2] = [
        ("normal, d = 0.5", |random| normal(random) + 0.5),
        // A lognormal number has the mean √e and the variance e² - e.
        ("skewed, d = 0.5", |random| {
            let deviation = (E * (E - 1.0)).sqrt();
            (normal(random).exp() - E.sqrt()) / deviation + 0.5
        }),
    ];
    for (seed, (name, draw)) in (20..).zip(shapes) {
        let mut rows =
            ["Cohen's d_z", "Hedges' g"].map(|effect| vec![name.to_owned(), effect.to_owned()]);
        for n in [30, 100, 300] {
            let mut random = Random::seeded(seed);
            let mut shares = [Share::default(); 2];
            for _ in 0..trials.div_ceil(5) {
                let values: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
                let found = [cohens_dz(&values, 0.95), hedges_g(&values, 0.95)];
                for (share, effect) in shares.iter_mut().zip(found) {
                    share.cover(effect.ok().and_then(|effect| effect.interval), 0.5);
                }
            }
            for (row, share) in rows.iter_mut().zip(shares) {
                row.push(share.percent());
            }
        }
        table.rows.extend(rows);
    }
    table
}
