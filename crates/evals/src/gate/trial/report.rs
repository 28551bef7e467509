//! The result of a trial: how often gates failed.

use std::num::NonZeroU32;

use evals_metrics::{Bootstrap, Interval, Scale, mean_interval};
use serde::{Deserialize, Serialize};

use super::population::{Population, Ruled};
use super::simulation::Verdicts;
use super::{GateTrial, Noise};
use crate::gate::{GateVerdict, Rule};
use crate::{SchemaVersion, Unit};

/// How often a gate failed in simulations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialReport {
    /// Version of this document's JSON schema, shared with [`Report`](crate::Report).
    pub schema_version: SchemaVersion,
    /// The runs that were resampled.
    pub runs: Vec<String>,
    /// How pairs of equally good runs were made, and what that assumes.
    pub assumptions: Vec<String>,
    /// The number of cases in each simulated run.
    pub cases: usize,
    /// How many pairs were simulated for each size of drop.
    pub simulations: NonZeroU32,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Rules that were not simulated.
    pub left_out: Vec<String>,
    /// For each size of drop, all rules about drops together, and then each rule, if there are several.
    pub rows: Vec<TrialRow>,
}

/// How often the rules about drops, or one rule, failed for one size of drop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRow {
    /// The true drop: `none` for two equally good runs.
    pub drop: String,
    /// The rule; `None` for all rules about drops together.
    pub rule: Option<String>,
    /// Whether the rule limits a value, so that it may fail without a drop and raise no false alarm.
    #[serde(default)]
    pub is_limit: bool,
    /// The shares of simulations; `None` where a measure cannot drop that far.
    pub shares: Option<TrialShares>,
}

/// Shares of simulations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialShares {
    /// Failed by default.
    pub failed: Share,
    /// Failed under [`Strictness::Strict`](crate::Strictness::Strict).
    pub strict: Share,
    /// Could not be told by default.
    pub cannot_tell: Share,
}

/// A share of simulations with its Monte Carlo error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// From 0 to 1.
    pub value: f64,
    /// Wilson's interval at 95 %: what more simulations could give.
    pub interval: Option<Interval>,
}

impl TrialShares {
    /// The shares of pairs of verdicts: by default, and strict.
    fn of(verdicts: &[[GateVerdict; 2]]) -> Self {
        let share = |is: &dyn Fn(&[GateVerdict; 2]) -> bool| {
            let count = verdicts.iter().filter(|it| is(it)).count();
            Share::new(count, verdicts.len())
        };
        Self {
            failed: share(&|[default, _]| *default == GateVerdict::Failed),
            strict: share(&|[_, strict]| *strict != GateVerdict::Passed),
            cannot_tell: share(&|[default, _]| *default == GateVerdict::CannotTell),
        }
    }
}

impl Share {
    fn new(count: usize, of: usize) -> Self {
        let mut values = vec![1.0; count];
        values.resize(of.max(count), 0.0);
        let interval = mean_interval(&values, None, Scale::Share, &Bootstrap::default());
        Self {
            value: evals_metrics::as_f64(count) / evals_metrics::as_f64(of.max(1)),
            interval: interval.ok(),
        }
    }
}

/// A rule as its row names it: `nDCG@10 drop <= 0.02`.
fn named(ruled: &Ruled) -> String {
    let sign = match ruled.rule {
        Rule::MaxDrop { .. } => "drop <=",
        Rule::Min { .. } => ">=",
        Rule::Max { .. } => "<=",
    };
    format!("{} {sign} {}", ruled.title, ruled.rule.limit())
}

impl TrialReport {
    pub(super) fn new(
        trial: &GateTrial<'_>,
        population: &Population<'_>,
        sizes: &[(String, Vec<f64>)],
        results: &[Option<Vec<Verdicts>>],
    ) -> Self {
        let rules = &population.rules;
        let mut rows = Vec::new();
        for ((label, _), simulated) in sizes.iter().zip(results) {
            let row = |rule: Option<String>,
                       is_limit: bool,
                       of: &dyn Fn(&Verdicts) -> [GateVerdict; 2]| TrialRow {
                drop: label.clone(),
                rule,
                is_limit,
                shares: simulated.as_ref().map(|all| {
                    let verdicts: Vec<_> = all.iter().map(of).collect();
                    TrialShares::of(&verdicts)
                }),
            };
            if rules.iter().any(Ruled::is_drop) {
                rows.push(row(None, false, &|verdicts| {
                    [0, 1].map(|strictness| {
                        let drops = verdicts.iter().zip(rules);
                        let drops = drops.filter(|(_, ruled)| ruled.is_drop());
                        let worst = drops.map(|(it, _)| it[strictness]).max();
                        worst.unwrap_or(GateVerdict::Passed)
                    })
                }));
            }
            if rules.len() > 1 || !rules.iter().any(Ruled::is_drop) {
                for (place, ruled) in rules.iter().enumerate() {
                    rows.push(row(Some(named(ruled)), !ruled.is_drop(), &|verdicts| {
                        verdicts[place]
                    }));
                }
            }
        }
        Self {
            schema_version: SchemaVersion,
            runs: match population.noise {
                Noise::Runs(runs) => runs.iter().map(|run| run.title.clone()).collect(),
                Noise::Repetitions(runs) => {
                    runs.iter().take(1).map(|it| it.title.clone()).collect()
                }
                Noise::Exchange { run, .. } => vec![run.title.clone()],
            },
            assumptions: assumptions(population),
            cases: population.cases,
            simulations: trial.simulations,
            seed: trial.seed,
            left_out: population.left_out.clone(),
            rows,
        }
    }
}

/// What the simulation does, and what it assumes.
fn assumptions(population: &Population<'_>) -> Vec<String> {
    let mut lines = vec![
        noise_of_pairs(population),
        if population.is_clustered {
            format!(
                "each simulated run has {} whole clusters of cases, drawn with replacement: it assumes that future clusters are like these",
                population.clusters.len()
            )
        } else {
            format!(
                "each simulated run has {} cases, drawn with replacement: it assumes that future questions are like these",
                population.cases
            )
        },
    ];
    let breaks = population.rules.iter().any(|ruled| ruled.is_share);
    let shifts = population.rules.iter().any(|ruled| !ruled.is_share);
    if breaks {
        lines.push(
            "a true drop breaks cases: each loses its whole value with the probability that lowers the mean by that much; one case \
             breaks in all measures"
                .to_owned(),
        );
    }
    if shifts {
        let metric = population.rules.iter().any(|it| it.unit == Unit::Metric);
        let what = if metric {
            "an amount"
        } else {
            "a measure beyond 0 to 1"
        };
        lines.push(format!(
            "a true drop of {what} shifts every case by that much"
        ));
    }
    lines
}

/// Where the noise of each pair comes from, and what that assumes.
fn noise_of_pairs(population: &Population<'_>) -> String {
    let (case, several) = if population.is_clustered {
        ("cluster", "clusters")
    } else {
        ("case", "cases")
    };
    match population.noise {
        Noise::Runs(runs) => format!(
            "each pair takes two of the {} runs and swaps their values {case} by {case} at random: it assumes that two runs differ as \
             much as these, and that neither is better",
            runs.len()
        ),
        Noise::Repetitions(runs) => format!(
            "each pair splits the {} repetitions of every {case} at random into halves: it assumes independent repetitions, and shows the \
             noise of runs with {} each",
            runs.len(),
            runs.len() / 2
        ),
        Noise::Exchange { share, .. } => format!(
            "one run without repetitions shows no noise, so in each pair {} of the {several} get the value of another {case}: it assumes \
             that a change helps some {several} and hurts others as much",
            crate::probability::percent(share)
        ),
    }
}
