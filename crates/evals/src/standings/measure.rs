//! One measure of several reports: means, pairs, and groups that cannot be told apart.

use std::collections::BTreeMap;

use evals_metrics::{Bootstrap, Interval, arithmetic_mean, mean_interval};
use serde::{Deserialize, Serialize};

use super::lead::Lead;
use super::letters::letters;
use crate::measured::{PairOutcome, UntestedMeasure};
use crate::pair_testing::PairTesting;
use crate::summary::by_bin;
use crate::{Direction, Unit};

/// One measure of several reports, over the cases that have a value in each of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedMeasure {
    /// Name of the measure.
    pub measure: String,
    /// The name of its mean in tables, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
    /// The unit of its numbers.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Direction,
    /// The number of cases that have a value in every report that has the measure.
    pub n: usize,
    /// Cases without a value in any report, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub excluded: BTreeMap<String, usize>,
    /// The reports that have the measure: best first, or in their order if neither direction is better.
    pub standings: Vec<Standing>,
    /// Every pair of these reports, in the order of the reports.
    pub pairs: Vec<PairOutcome>,
    /// The best of these reports against the others. `None` if neither direction is better, or without cases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Lead>,
}

/// One report in one measure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The position of the report.
    pub report: usize,
    /// The mean over the cases of [`RankedMeasure::n`]; `None` if there are none.
    pub mean: Option<f64>,
    /// Its confidence interval, as [`mean_interval`] chooses it. `None` where it is undefined, such as for equal values that are neither 0
    /// nor 1.
    pub interval: Option<Interval>,
    /// The groups that the report belongs to, one letter each. Two reports share a letter exactly if they do not differ significantly.
    /// Empty if neither direction is better, or without cases.
    pub letters: String,
    /// Cases left out because this report has no value where another has one.
    pub without_value: usize,
    /// How many cases have a value in each tenth from 0 to 1. `None` if a value is not from 0 to 1, and for pass rates and metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub histogram: Option<[usize; 10]>,
}

impl UntestedMeasure<'_> {
    /// The means and histograms, without letters, in the order of the reports.
    pub(super) fn standings(&self, testing: &PairTesting) -> Vec<Standing> {
        let bootstrap = Bootstrap {
            level: testing.paired.level,
            seed: testing.paired.seed,
            ..Bootstrap::default()
        };
        let all = self.reports.iter().zip(&self.values);
        all.zip(&self.without_value)
            .map(|((report, values), without_value)| Standing {
                report: *report,
                mean: arithmetic_mean(values),
                interval: mean_interval(values, self.clusters.as_deref(), self.scale(), &bootstrap)
                    .ok(),
                letters: String::new(),
                without_value: *without_value,
                histogram: (self.unit == Unit::Score)
                    .then(|| by_bin(values.iter().copied()))
                    .flatten(),
            })
            .collect()
    }

    /// The measure with its tested pairs, whose p values are corrected together with those of other measures.
    pub(super) fn ranked(self, pairs: Vec<PairOutcome>, testing: &PairTesting) -> RankedMeasure {
        let lead = Lead::of(&self, testing);
        let mut standings = self.standings(testing);
        let order = |left: &Standing, right: &Standing| match self.better {
            Direction::Higher => right.mean.partial_cmp(&left.mean),
            Direction::Lower => left.mean.partial_cmp(&right.mean),
            Direction::Unknown => None,
        };
        // Stable: reports with equal means keep their order.
        standings.sort_by(|left, right| order(left, right).unwrap_or(std::cmp::Ordering::Equal));
        let is_ranked = self.better != Direction::Unknown && self.n() > 0;
        if is_ranked {
            let is_distinct = |first: usize, second: usize| {
                let places = [first, second].map(|place| standings[place].report);
                let pair = pairs.iter().find(|pair| pair.is_of(places));
                pair.is_some_and(PairOutcome::is_distinct)
            };
            let letters = letters(standings.len(), is_distinct);
            for (standing, letters) in standings.iter_mut().zip(letters) {
                standing.letters = letters;
            }
        }
        RankedMeasure {
            n: self.n(),
            measure: self.measure,
            mean_title: self.mean_title,
            unit: self.unit,
            better: self.better,
            excluded: self.excluded,
            standings,
            pairs,
            lead,
        }
    }
}

impl RankedMeasure {
    /// The name of the measure's mean in tables.
    pub fn title(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.measure)
    }

    /// Whether the reports have an order: a direction is better, and there are cases.
    pub fn is_ranked(&self) -> bool {
        self.better != Direction::Unknown && self.n > 0
    }

    /// Whether the test of a pair favours the report with the worse mean, as tests of ranks and signs can.
    pub fn is_against_means(&self, pair: &PairOutcome) -> bool {
        pair.finding
            .is_against_mean(pair.difference.difference, self.better)
    }

    /// The pair of two reports, in either order.
    pub fn pair(&self, one: usize, other: usize) -> Option<&PairOutcome> {
        self.pairs.iter().find(|pair| pair.is_of([one, other]))
    }
}
