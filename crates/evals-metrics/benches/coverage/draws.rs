//! Distributions that measures have, with their true means.

use std::f64::consts::PI;

use crate::random::Random;

/// A distribution of one case's value.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) mean: f64,
    pub(crate) draw: fn(&mut Random) -> f64,
}

/// Values of a measure.
pub(crate) const VALUES: [Shape; 5] = [
    Shape {
        name: "0/1, 80 % pass",
        mean: 0.8,
        draw: |random| f64::from(random.uniform() < 0.8),
    },
    Shape {
        name: "0/1, 95 % pass",
        mean: 0.95,
        draw: |random| f64::from(random.uniform() < 0.95),
    },
    Shape {
        name: "difference of 0/1, 20 % change",
        mean: 0.1,
        draw: |random| verdict_change(random, 0.15),
    },
    // As nDCG: many misses, many perfect rankings, and everything between.
    Shape {
        name: "bounded, like nDCG",
        mean: 0.55,
        draw: |random| match random.uniform() {
            u if u < 0.3 => 0.0,
            u if u < 0.7 => 1.0,
            _ => random.uniform(),
        },
    },
    // As latencies and costs: lognormal with σ = 1. The mean is √e.
    Shape {
        name: "skewed, like cost",
        mean: 1.648_721_270_700_128_2,
        draw: |random| normal(random).exp(),
    },
];

/// Differences of paired measurements with a mean of 0.
pub(crate) const DIFFERENCES: [Shape; 3] = [
    Shape {
        name: "0/1, 20 % change",
        mean: 0.0,
        draw: |random| verdict_change(random, 0.1),
    },
    Shape {
        name: "bounded, 90 % change",
        mean: 0.0,
        draw: |random| {
            if random.uniform() < 0.1 {
                0.0
            } else {
                random.uniform() - random.uniform()
            }
        },
    },
    Shape {
        name: "skewed",
        mean: 0.0,
        draw: |random| normal(random).exp() - 1.648_721_270_700_128_2,
    },
];

/// As [`DIFFERENCES`], where three in ten cases change.
pub(crate) fn sparse() -> Shape {
    Shape {
        name: "bounded, 30 % change",
        mean: 0.0,
        draw: |random| {
            if random.uniform() < 0.7 {
                0.0
            } else {
                random.uniform() - random.uniform()
            }
        },
    }
}

impl Shape {
    pub(crate) fn sample(&self, n: usize, random: &mut Random) -> Vec<f64> {
        (0..n).map(|_| (self.draw)(random)).collect()
    }
}

/// The change of a verdict, where one in five changes: `gained` is the share that changes from a failure to a pass.
fn verdict_change(random: &mut Random, gained: f64) -> f64 {
    match random.uniform() {
        u if u < gained => 1.0,
        u if u < 0.2 => -1.0,
        _ => 0.0,
    }
}

/// A standard normal number, by Box and Muller's method.
pub(crate) fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * (1.0 - random.uniform()).ln()).sqrt();
    radius * (2.0 * PI * random.uniform()).cos()
}
