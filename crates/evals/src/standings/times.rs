//! How long the cases of several reports took.

use std::collections::{BTreeMap, BTreeSet};

use evals_metrics::{Bootstrap, Interval, PairedQuantiles, Percentiles};
use serde::{Deserialize, Serialize};

use super::letters::letters;
use crate::measured::means_of_cases;
use crate::pair_testing::PairTesting;
use crate::{CaseId, CaseReport, Domain, Report};

/// The quantiles of the service time that are compared, with their names.
const QUANTILES: [(&str, f64); 2] = [("latency p50", 0.5), ("latency p95", 0.95)];

/// A quantile of the service time of several reports, over the cases that each of them timed.
///
/// Intervals come from a bootstrap that draws the same cases for all reports. Two reports are told apart if the interval of their
/// difference excludes 0 at a level that is corrected for the number of quantiles and pairs by Bonferroni's method, unless
/// [`PairTesting`] corrects nothing. Cases count as independent, also where [`PairTesting`] has clusters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RankedTime {
    /// Name of the quantile, such as `latency p50`.
    pub name: String,
    /// The number of cases that every one of these reports timed.
    pub n: usize,
    /// The reports with enough timed cases, fastest first.
    pub standings: Vec<TimeStanding>,
    /// Every pair of these reports.
    pub pairs: Vec<TimePair>,
}

/// One report's quantile of the service time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimeStanding {
    /// The position of the report.
    pub report: usize,
    /// The quantile in seconds.
    pub seconds: f64,
    /// Its confidence interval.
    pub interval: Option<Interval>,
    /// The groups that the report belongs to, one letter each.
    pub letters: String,
}

/// The difference between two reports' quantiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TimePair {
    /// The position of the one report.
    pub first: usize,
    /// The position of the other.
    pub second: usize,
    /// The second quantile minus the first, in seconds.
    pub difference: f64,
    /// Its confidence interval.
    pub interval: Option<Interval>,
    /// Its interval at the corrected level.
    pub corrected: Option<Interval>,
    /// Whether the corrected interval excludes 0.
    pub is_distinct: bool,
}

/// The service times of reports, with the positions of the reports that have too few. `seconds` is the service time of a case.
pub(super) fn ranked_times<D: Domain>(
    reports: &[&Report<D>],
    shared: &BTreeSet<&CaseId>,
    testing: &PairTesting,
    seconds: impl Fn(usize, &CaseReport<D>) -> Option<f64>,
) -> (Vec<RankedTime>, Vec<usize>) {
    let of_report = |place: usize| -> BTreeMap<&CaseId, f64> {
        let cases = reports[place].cases.iter();
        let shared = cases.filter(|case| shared.contains(&case.id));
        means_of_cases(shared.filter_map(|case| Some((&case.id, seconds(place, case)?))))
    };
    let all: Vec<BTreeMap<&CaseId, f64>> = (0..reports.len()).map(of_report).collect();
    let is_timed = |place: &usize| all[*place].len() >= Percentiles::FEWEST_SAMPLES;
    let (timed, untimed): (Vec<usize>, Vec<usize>) = (0..reports.len()).partition(is_timed);
    if timed.len() < 2 {
        return (Vec::new(), (0..reports.len()).collect());
    }
    let every = |id: &&&CaseId| timed.iter().all(|place| all[*place].contains_key(**id));
    let cases: Vec<&CaseId> = shared.iter().filter(every).copied().collect();
    let of_cases = |place: &usize| cases.iter().map(|id| all[*place][id]).collect();
    let systems: Vec<Vec<f64>> = timed.iter().map(of_cases).collect();
    let ranked = QUANTILES
        .iter()
        .filter_map(|(name, share)| ranked(name, *share, &timed, &systems, testing));
    (ranked.collect(), untimed)
}

fn ranked(
    name: &str,
    share: f64,
    reports: &[usize],
    systems: &[Vec<f64>],
    testing: &PairTesting,
) -> Option<RankedTime> {
    let level = testing.paired.level;
    let bootstrap = Bootstrap {
        level,
        seed: testing.paired.seed,
        ..Bootstrap::default()
    };
    let quantiles = PairedQuantiles::of(systems, share, &bootstrap)?;
    let count = reports.len();
    let tests = QUANTILES.len() * count * (count - 1) / 2;
    let strict = 1.0 - testing.adjustment.strictest(testing.significance(), tests);
    let mut order: Vec<(usize, f64)> = (0..count)
        .map(|place| Some((place, quantiles.value(place)?)))
        .collect::<Option<_>>()?;
    order.sort_by(|(_, left), (_, right)| left.total_cmp(right));
    let is_distinct = |first: usize, second: usize| quantiles.is_apart(first, second, strict);
    let letters = letters(count, |first, second| {
        is_distinct(order[first].0, order[second].0)
    });
    let standings = order.iter().zip(letters);
    let standings = standings.map(|((place, seconds), letters)| TimeStanding {
        report: reports[*place],
        seconds: *seconds,
        interval: quantiles.interval(*place, level),
        letters,
    });
    let places = (0..count).flat_map(|first| (first + 1..count).map(move |it| (first, it)));
    let pairs = places.filter_map(|(first, second)| {
        Some(TimePair {
            first: reports[first],
            second: reports[second],
            difference: quantiles.value(second)? - quantiles.value(first)?,
            interval: quantiles.difference_interval(first, second, level),
            corrected: quantiles.difference_interval(first, second, strict),
            is_distinct: is_distinct(first, second),
        })
    });
    Some(RankedTime {
        name: name.to_owned(),
        n: systems.first().map_or(0, Vec::len),
        standings: standings.collect(),
        pairs: pairs.collect(),
    })
}
