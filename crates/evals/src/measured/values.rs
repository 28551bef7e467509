//! The values of every measure of two or more reports, over the cases that they share.

use std::collections::{BTreeMap, BTreeSet};

use super::UntestedMeasure;
use crate::clusters::CaseClusters;
use crate::comparison::matched;
use crate::summary::Values;
use crate::{CaseId, CaseReport, Direction, Domain, Report, Summary, Unit};

/// A report and its summary under a title.
#[derive(Debug)]
pub struct Titled<'r, D: Domain> {
    /// The report's title.
    pub title: &'r str,
    /// The report.
    pub report: &'r Report<D>,
    /// Its summary.
    pub summary: &'r Summary,
}

/// The name of what a case costs, in dollars: a metric that targets record, or that the caller computes.
pub(crate) const COST: &str = "cost";

/// What the reports are, which decides what counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// Before and after a change. Measures have the order of the later report, and a case that a measure does not apply to in one report does not
    /// count.
    Change,
    /// Reports side by side. Measures have the order of the first report. A lower cost is better.
    Several,
}

/// The values of each measure that at least two reports have, and the names of the measures that only one has, with the report's position.
/// Recorded metrics come last, because they have no evaluator.
pub(crate) fn measured<'r, D: Domain>(
    reports: &[Titled<'r, D>],
    shared: &BTreeSet<&'r CaseId>,
    clusters: Option<&CaseClusters<'_>>,
    compared: Compared,
) -> (Vec<UntestedMeasure<'r>>, Vec<(usize, String)>) {
    let summaries: Vec<(&str, &Summary)> = reports
        .iter()
        .map(|titled| (titled.title, titled.summary))
        .collect();
    let values: Vec<_> = reports.iter().map(|it| it.report.case_values()).collect();
    let mut measures: Vec<(usize, UntestedMeasure<'r>)> = Vec::new();
    let mut alone = Vec::new();
    for unit in [Unit::Score, Unit::PassRate, Unit::Metric] {
        for matched in matched(&summaries, |summary| match unit {
            Unit::PassRate => &summary.assertions,
            Unit::Metric => &summary.metrics,
            Unit::Score | Unit::Share | Unit::Seconds => &summary.scores,
        }) {
            let own = matched.titles.iter().enumerate();
            let own: Vec<(usize, &str)> = own
                .filter_map(|(place, title)| Some((place, (*title)?)))
                .collect();
            let (leading, title) = match (&own[..], compared) {
                ([(report, _)], _) => {
                    alone.push((*report, matched.title));
                    continue;
                }
                ([first, ..], Compared::Several) => *first,
                ([.., last], Compared::Change) => *last,
                ([], _) => continue,
            };
            // A recorded metric has no known better direction: the reader decides whether more is better.
            let better = match unit {
                Unit::Metric if compared == Compared::Several && matched.title == COST => {
                    Direction::Lower
                }
                Unit::Metric => Direction::Unknown,
                _ => matched.better,
            };
            let columns = own.iter();
            let columns: Vec<(usize, &Values<'_>)> = columns
                .map(|(place, title)| (*place, values[*place].of(unit, title)))
                .collect();
            let place = reports[leading].summary.place(title);
            let mean_title = matched.mean_title.filter(|_| unit == Unit::Score);
            let named = (matched.title, mean_title, unit, better);
            measures.push((
                place.unwrap_or(usize::MAX),
                over(named, &columns, shared, clusters, compared),
            ));
        }
    }
    measures.sort_by_key(|(place, _)| *place);
    let measures = measures.into_iter().map(|(_, measured)| measured);
    (measures.collect(), alone)
}

/// The values of a measure over the shared cases that have one in each of its reports.
fn over<'r>(
    (measure, mean_title, unit, better): (String, Option<String>, Unit, Direction),
    columns: &[(usize, &Values<'_>)],
    shared: &BTreeSet<&'r CaseId>,
    clusters: Option<&CaseClusters<'_>>,
    compared: Compared,
) -> UntestedMeasure<'r> {
    let mut cases: Vec<&CaseId> = Vec::new();
    let mut excluded: BTreeMap<String, usize> = BTreeMap::new();
    let mut without_value = vec![0; columns.len()];
    for id in shared {
        let of_case: Vec<Option<Result<f64, &str>>> = columns
            .iter()
            .map(|(_, values)| values.get(id).copied())
            .collect();
        if compared == Compared::Change && of_case.iter().any(Option::is_none) {
            continue;
        }
        let is_there = |value: &Option<Result<f64, &str>>| matches!(value, Some(Ok(_)));
        let mut reasons = of_case.iter().flatten().filter_map(|it| it.err());
        if of_case.iter().all(is_there) {
            cases.push(id);
        } else if of_case.iter().any(is_there) {
            for (count, value) in without_value.iter_mut().zip(&of_case) {
                *count += usize::from(!is_there(value));
            }
        } else if let Some(reason) = match compared {
            Compared::Change => reasons.next_back(),
            Compared::Several => reasons.next(),
        } {
            *excluded.entry(reason.to_owned()).or_default() += 1;
        }
    }
    let values = columns.iter().map(|(_, values)| {
        let of_cases = cases.iter().filter_map(|id| values.get(id)?.ok());
        of_cases.collect()
    });
    UntestedMeasure {
        measure,
        mean_title,
        unit,
        better,
        excluded,
        clusters: clusters.map(|clusters| clusters.among(cases.iter().copied())),
        values: values.collect(),
        reports: columns.iter().map(|(place, _)| *place).collect(),
        without_value,
        cases,
    }
}

/// The mean of each case over its repetitions.
pub(crate) fn means_of_cases<'c>(
    values: impl Iterator<Item = (&'c CaseId, f64)>,
) -> BTreeMap<&'c CaseId, f64> {
    let mut sums: BTreeMap<&CaseId, (f64, f64)> = BTreeMap::new();
    for (id, value) in values {
        let (sum, count) = sums.entry(id).or_default();
        *sum += value;
        *count += 1.0;
    }
    let means = sums.into_iter();
    means.map(|(id, (sum, count))| (id, sum / count)).collect()
}

/// What the cases of each report cost; `None` unless every report has a cost for some case, and some case costs something.
pub(crate) fn costs<'r, D: Domain>(
    reports: &[Titled<'r, D>],
    shared: &BTreeSet<&'r CaseId>,
    clusters: Option<&CaseClusters<'_>>,
    dollars: impl Fn(usize, &CaseReport<D>) -> Option<f64>,
) -> Option<UntestedMeasure<'r>> {
    let column = |(place, titled): (usize, &Titled<'r, D>)| -> Values<'r> {
        let report: &'r Report<D> = titled.report;
        let costs = report.cases.iter().filter_map(|case| {
            let cost = dollars(place, case).filter(|it| it.is_finite())?;
            Some((&case.id, cost))
        });
        let means = means_of_cases(costs).into_iter();
        means.map(|(id, cost)| (id, Ok(cost))).collect()
    };
    let columns: Vec<Values<'_>> = reports.iter().enumerate().map(column).collect();
    let costs_anything =
        |values: &Values<'_>| values.values().any(|it| it.is_ok_and(|cost| cost > 0.0));
    let is_known = columns.iter().all(|values| !values.is_empty());
    (is_known && columns.iter().any(costs_anything)).then(|| {
        let named = (COST.to_owned(), None, Unit::Metric, Direction::Lower);
        let columns: Vec<(usize, &Values<'_>)> = columns.iter().enumerate().collect();
        over(named, &columns, shared, clusters, Compared::Several)
    })
}
