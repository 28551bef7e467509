//! Changes between two runs that are corrected by labels of both.

use evals_metrics::{
    Interval, JudgedChange, LabelledValue, corrected_change, prediction_powered, tango_interval,
};

use crate::random::Random;
use crate::table::{Share, Table};

/// Two runs and their judge.
#[derive(Clone, Copy)]
struct Change {
    name: &'static str,
    /// The shares of answers that become good and bad.
    gained: f64,
    lost: f64,
    true_pass_rate: f64,
    /// How often the judge fails bad answers of the earlier and of the later run.
    true_fail_rates: [f64; 2],
    /// How many questions form a cluster and change together.
    together: usize,
}

const CHANGES: [Change; 4] = [
    Change {
        name: "20 % change, TPR 0.9, TNR 0.8",
        gained: 0.13,
        lost: 0.07,
        true_pass_rate: 0.9,
        true_fail_rates: [0.8, 0.8],
        together: 1,
    },
    Change {
        name: "20 % change, TNR falls to 0.5",
        gained: 0.09,
        lost: 0.11,
        true_pass_rate: 0.9,
        true_fail_rates: [0.8, 0.5],
        together: 1,
    },
    Change {
        name: "4 % change, TPR 0.9, TNR 0.8",
        gained: 0.03,
        lost: 0.01,
        true_pass_rate: 0.9,
        true_fail_rates: [0.8, 0.8],
        together: 1,
    },
    Change {
        name: "20 % change, clusters of 4",
        gained: 0.13,
        lost: 0.07,
        true_pass_rate: 0.9,
        true_fail_rates: [0.8, 0.8],
        together: 4,
    },
];
/// The share of good answers before the change.
const GOOD: f64 = 0.6;
/// The questions of both runs.
const QUESTIONS: usize = 400;
const SIZES: [usize; 3] = [20, 60, 200];
const METHODS: [&str; 3] = [
    "the judge's change (Tango)",
    "PPI++ of the changes, normal",
    "corrected change",
];

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    let mut table = Table::new(
        "95 % intervals of the change by people that cover it",
        &[
            "change and judge",
            "method",
            "20 labels",
            "60 labels",
            "200 labels",
        ],
    );
    for (seed, change) in (100..).zip(CHANGES) {
        let mut rows = METHODS.map(|method| vec![change.name.to_owned(), method.to_owned()]);
        for labels in SIZES {
            let mut random = Random::seeded(seed);
            let mut shares = [Share::default(); METHODS.len()];
            for _ in 0..trials {
                let intervals = change.intervals(labels, &mut random);
                for (share, interval) in shares.iter_mut().zip(intervals) {
                    share.cover(interval, change.gained - change.lost);
                }
            }
            for (row, share) in rows.iter_mut().zip(&shares) {
                row.push(share.percent());
            }
        }
        table.rows.extend(rows);
    }
    vec![table]
}

impl Change {
    fn intervals(self, labels: usize, random: &mut Random) -> [Option<Interval>; METHODS.len()] {
        let mut drawn = Vec::new();
        while drawn.len() < QUESTIONS {
            let people = self.verdicts(random);
            for _ in 0..self.together {
                let judge = [0, 1].map(|run| self.judged(people[run], run, random));
                drawn.push((drawn.len() / self.together, people, judge));
            }
        }
        let judged = |wanted| drawn.iter().filter(|it| it.2 == wanted).count();
        let (gained, lost) = (judged([false, true]), judged([true, false]));
        let chosen = sample(labels, random);
        let questions: Vec<JudgedChange> = drawn
            .iter()
            .zip(chosen)
            .map(|(&(cluster, people, judge), is_labelled)| JudgedChange {
                judge: step(judge),
                people: is_labelled.then(|| step(people)),
                cluster,
            })
            .collect();
        let labelled: Vec<LabelledValue> = questions
            .iter()
            .filter_map(|it| {
                Some(LabelledValue {
                    label: it.people?,
                    prediction: it.judge,
                    weight: 1.0,
                })
            })
            .collect();
        let others = questions.iter().filter(|it| it.people.is_none());
        let others: Vec<f64> = others.map(|it| it.judge).collect();
        let normal = prediction_powered(&labelled, &others, 0.95);
        let corrected = corrected_change(&questions, 0.95);
        [
            tango_interval(gained, lost, QUESTIONS, 0.95).ok(),
            normal.ok().map(|found| found.interval),
            corrected.ok().map(|found| found.interval),
        ]
    }

    /// Whether people pass the earlier and the later answer.
    fn verdicts(self, random: &mut Random) -> [bool; 2] {
        match random.uniform() {
            u if u < self.gained => [false, true],
            u if u < self.gained + self.lost => [true, false],
            u if u < self.gained + GOOD => [true, true],
            _ => [false, false],
        }
    }

    fn judged(self, is_good: bool, run: usize, random: &mut Random) -> bool {
        let passing = if is_good {
            self.true_pass_rate
        } else {
            1.0 - self.true_fail_rates[run]
        };
        random.uniform() < passing
    }
}

fn step([before, after]: [bool; 2]) -> f64 {
    f64::from(after) - f64::from(before)
}

/// Which questions people label: so many at random.
fn sample(labels: usize, random: &mut Random) -> Vec<bool> {
    let mut keys: Vec<(f64, usize)> = (0..QUESTIONS).map(|it| (random.uniform(), it)).collect();
    keys.sort_by(|left, right| left.0.total_cmp(&right.0));
    let mut chosen = vec![false; QUESTIONS];
    for (_, place) in &keys[..labels] {
        chosen[*place] = true;
    }
    chosen
}
