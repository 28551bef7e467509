//! Pass rates that are corrected by labels, and agreement.

use evals_metrics::{
    Agreement, Confusion, Interval, JudgeLabels, VerdictCounts, double_sampling,
    prediction_powered_rate, rogan_gladen,
};

use crate::random::Random;
use crate::table::{Share, Table};

/// A judge, and the answers that it judges.
#[derive(Clone, Copy)]
struct Judge {
    name: &'static str,
    /// The share of answers that people pass.
    truth: f64,
    true_pass_rate: f64,
    true_fail_rate: f64,
}

const JUDGES: [Judge; 3] = [
    Judge {
        name: "70 % good, TPR 0.9, TNR 0.8",
        truth: 0.7,
        true_pass_rate: 0.9,
        true_fail_rate: 0.8,
    },
    Judge {
        name: "90 % good, TPR 0.95, TNR 0.6",
        truth: 0.9,
        true_pass_rate: 0.95,
        true_fail_rate: 0.6,
    },
    Judge {
        name: "60 % good, TPR 0.7, TNR 0.6",
        truth: 0.6,
        true_pass_rate: 0.7,
        true_fail_rate: 0.6,
    },
];
/// The answers of a run.
const RUN: usize = 1_000;
const SIZES: [usize; 3] = [30, 100, 300];
const METHODS: [&str; 6] = [
    "uncorrected (Wilson)",
    "Rogan-Gladen, random labels of another run",
    "Rogan-Gladen, labels by verdict of another run",
    "double sampling, random labels",
    "double sampling, labels by verdict",
    "PPI++, random labels",
];

pub(crate) fn tables(trials: usize) -> Vec<Table> {
    let header = [
        "answers and judge",
        "method",
        "30 labels",
        "100 labels",
        "300 labels",
    ];
    let mut coverage = Table::new(
        "95 % intervals of the pass rate by people that cover it",
        &header,
    );
    let mut widths = Table::new("Mean width of these intervals", &header);
    for (seed, judge) in (80..).zip(JUDGES) {
        let mut covering = METHODS.map(|method| vec![judge.name.to_owned(), method.to_owned()]);
        let mut widening = covering.clone();
        for labels in SIZES {
            let mut random = Random::seeded(seed);
            let mut shares = [Share::default(); METHODS.len()];
            for _ in 0..trials {
                for (share, interval) in shares.iter_mut().zip(judge.intervals(labels, &mut random))
                {
                    share.cover(interval, judge.truth);
                }
            }
            for (row, share) in covering.iter_mut().zip(&shares) {
                row.push(share.percent());
            }
            for (row, share) in widening.iter_mut().zip(&shares) {
                row.push(share.mean_width());
            }
        }
        coverage.rows.extend(covering);
        widths.rows.extend(widening);
    }
    vec![coverage, widths, kappa(trials)]
}

impl Judge {
    fn intervals(self, labels: usize, random: &mut Random) -> [Option<Interval>; METHODS.len()] {
        let run = self.answers(RUN, random);
        let other = self.answers(RUN, random);
        let (passes, fails) = (verdicts(&run), verdicts(&other));
        let at_random = |answers: &[(bool, bool)]| answers[..labels].iter().copied().collect();
        let (own, foreign): (Confusion, Confusion) = (at_random(&run), at_random(&other));
        let (own_by_verdict, foreign_by_verdict) =
            (by_verdict(&run, labels), by_verdict(&other, labels));
        let drawn = |labels, drawn_from| JudgeLabels::ByVerdict { labels, drawn_from };
        let corrected =
            |found: Result<evals_metrics::CorrectedRate, _>| found.ok().map(|found| found.interval);
        let uncorrected = evals_metrics::mean_interval(
            &run.iter()
                .map(|(_, judge)| f64::from(*judge))
                .collect::<Vec<_>>(),
            None,
            evals_metrics::Scale::Share,
            &evals_metrics::Bootstrap::default(),
        );
        [
            uncorrected.ok(),
            corrected(rogan_gladen(&JudgeLabels::Random(foreign), passes, 0.95)),
            corrected(rogan_gladen(
                &drawn(foreign_by_verdict, fails),
                passes,
                0.95,
            )),
            corrected(double_sampling(&own, passes, 0.95)),
            corrected(double_sampling(&own_by_verdict, passes, 0.95)),
            prediction_powered_rate(&JudgeLabels::Random(own), passes, 0.95)
                .ok()
                .map(|found| found.interval),
        ]
    }

    /// Whether people pass each answer, and whether the judge does.
    fn answers(self, n: usize, random: &mut Random) -> Vec<(bool, bool)> {
        let answer = |_| {
            let is_good = random.uniform() < self.truth;
            let passing = if is_good {
                self.true_pass_rate
            } else {
                1.0 - self.true_fail_rate
            };
            (is_good, random.uniform() < passing)
        };
        (0..n).map(answer).collect()
    }
}

fn verdicts(answers: &[(bool, bool)]) -> VerdictCounts {
    let passes = answers.iter().filter(|(_, judge)| *judge).count();
    VerdictCounts {
        passes,
        fails: answers.len() - passes,
    }
}

/// As many answers that the judge passed as answers that it failed.
fn by_verdict(answers: &[(bool, bool)], labels: usize) -> Confusion {
    let of = |verdict: bool| {
        answers
            .iter()
            .copied()
            .filter(move |(_, judge)| *judge == verdict)
    };
    let failed: Vec<_> = of(false).take(labels / 2).collect();
    of(true).take(labels - failed.len()).chain(failed).collect()
}

fn kappa(trials: usize) -> Table {
    let mut table = Table::new(
        "95 % intervals of Cohen's kappa that cover it",
        &["answers and judge", "30 labels", "100 labels", "300 labels"],
    );
    for (seed, judge) in (90..).zip(JUDGES) {
        let mut row = vec![judge.name.to_owned()];
        let passing =
            judge.truth * judge.true_pass_rate + (1.0 - judge.truth) * (1.0 - judge.true_fail_rate);
        let agreement =
            judge.truth * judge.true_pass_rate + (1.0 - judge.truth) * judge.true_fail_rate;
        let chance = judge.truth * passing + (1.0 - judge.truth) * (1.0 - passing);
        let truth = (agreement - chance) / (1.0 - chance);
        for labels in SIZES {
            let mut random = Random::seeded(seed);
            let mut share = Share::default();
            for _ in 0..trials {
                let labels = judge.answers(labels, &mut random).into_iter().collect();
                let kappa = Agreement::of_sample(&labels, 0.95).kappa;
                share.cover(kappa.ok().and_then(|kappa| kappa.interval), truth);
            }
            row.push(share.percent());
        }
        table.rows.push(row);
    }
    table
}
