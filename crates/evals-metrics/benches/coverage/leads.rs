//! The best of several runs: how often a test says that it leads, where it does and where it does not.

use evals_metrics::{Alternative, paired_t};

use crate::draws::normal;
use crate::random::Random;
use crate::table::{Share, Table, as_f64};

const RUNS: usize = 6;

/// The pairs of so many runs.
const PAIRS: f64 = 15.0;

const TESTS: [&str; 3] = [
    "the next mean, corrected for all pairs",
    "the next mean",
    "the smallest standardised difference",
];

/// Six runs of the same questions.
#[derive(Clone, Copy)]
struct Runs {
    name: &'static str,
    /// How far each true mean is below the best, in standard errors of a difference between two runs.
    behind: [f64; RUNS],
    /// Whether the third run repeats most of what the first one does.
    has_copy: bool,
    /// Whether values are passes and failures.
    are_verdicts: bool,
}

const SCORES: Runs = Runs {
    name: "",
    behind: [0.0; RUNS],
    has_copy: false,
    are_verdicts: false,
};

const TWO_EQUAL: Runs = Runs {
    name: "two equal runs, four far behind",
    behind: [0.0, 0.0, 9.0, 9.0, 9.0, 9.0],
    ..SCORES
};

/// Runs of which none is better than all others.
const WITHOUT_BEST: [Runs; 4] = [
    Runs {
        name: "six equal runs",
        ..SCORES
    },
    TWO_EQUAL,
    Runs {
        name: "two equal runs, the next a near copy of one",
        behind: [0.0, 0.0, 0.5, 9.0, 9.0, 9.0],
        has_copy: true,
        ..SCORES
    },
    Runs {
        name: "two equal pass rates, four far behind",
        are_verdicts: true,
        ..TWO_EQUAL
    },
];

/// Runs of which the first is better than all others.
const WITH_BEST: [Runs; 2] = [
    Runs {
        name: "one run 2 standard errors ahead, four far behind",
        behind: [0.0, 2.0, 9.0, 9.0, 9.0, 9.0],
        ..SCORES
    },
    Runs {
        name: "one run 3 standard errors ahead of five equal ones",
        behind: [0.0, 3.0, 3.0, 3.0, 3.0, 3.0],
        ..SCORES
    },
];

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    let heads = [
        "runs",
        "test of the best against",
        "n = 30",
        "n = 100",
        "n = 300",
    ];
    let mut alarms = Table::new(
        "Leads at 5 % of a run that is not better than all others",
        &heads,
    );
    let mut power = Table::new(
        "Leads at 5 % of a run that is better than all others",
        &heads,
    );
    for runs in WITHOUT_BEST {
        alarms.rows.extend(rows(runs, trials));
    }
    for runs in WITH_BEST {
        power.rows.extend(rows(runs, trials));
    }
    vec![alarms, power]
}

fn rows(runs: Runs, trials: usize) -> Vec<Vec<String>> {
    let mut rows = TESTS.map(|test| vec![runs.name.to_owned(), test.to_owned()]);
    for n in [30, 100, 300] {
        let mut random = Random::seeded(120);
        let mut shares = [Share::default(); TESTS.len()];
        for _ in 0..trials {
            let values = runs.sample(n, &mut random);
            for (share, p_value) in shares.iter_mut().zip(p_values(&values)) {
                share.add(Some(p_value <= 0.05));
            }
        }
        for (row, share) in rows.iter_mut().zip(shares) {
            row.push(share.percent());
        }
    }
    rows.into()
}

impl Runs {
    /// The values of each run. Those of a question share its difficulty.
    fn sample(&self, n: usize, random: &mut Random) -> [Vec<f64>; RUNS] {
        let error = (2.0 / as_f64(n)).sqrt();
        let mut values = [const { Vec::new() }; RUNS];
        for _ in 0..n {
            let difficulty = normal(random);
            let mut noise = [0.0; RUNS];
            noise.fill_with(|| normal(random));
            if self.has_copy {
                noise[2] = 0.99 * noise[0] + (1.0_f64 - 0.99 * 0.99).sqrt() * noise[2];
            }
            for (run, values) in values.iter_mut().enumerate() {
                let value = difficulty + noise[run] - self.behind[run] * error;
                values.push(if self.are_verdicts {
                    f64::from(value > -1.0)
                } else {
                    value
                });
            }
        }
        values
    }
}

/// The p value of each test of the best run.
fn p_values(values: &[Vec<f64>; RUNS]) -> [f64; TESTS.len()] {
    let sums: Vec<f64> = values.iter().map(|of_run| of_run.iter().sum()).collect();
    let mut order: Vec<usize> = (0..RUNS).collect();
    order.sort_by(|left, right| sums[*right].total_cmp(&sums[*left]));
    let best = &values[order[0]];
    let against = |other: &usize| {
        let pairs = best.iter().zip(&values[*other]);
        let differences: Vec<f64> = pairs.map(|(best, other)| best - other).collect();
        let test = paired_t(&differences, Alternative::TwoSided);
        test.map_or(1.0, |test| test.p_value)
    };
    let next = against(&order[1]);
    // With as many questions for every run, the smallest standardised difference has the largest p value.
    let closest = order[1..].iter().map(against).fold(0.0, f64::max);
    [next * PAIRS, next, closest]
}
