//! The values of every measure of several reports, over the cases that they share.

use std::collections::{BTreeMap, BTreeSet};

use super::measure::Measured;
use crate::clusters::CaseClusters;
use crate::comparison::matched;
use crate::summary::Values;
use crate::{CaseId, CaseReport, Direction, Domain, Report, Summary, Titled, Unit};

/// The name of what a case costs, in dollars: a metric that targets record, or that the caller computes.
const COST: &str = "cost";

/// A measure with the cases of its values, and the place of its evaluator in the first report.
type Placed<'r> = (usize, (Measured, Vec<&'r CaseId>));

/// The values of each measure that at least two reports have, in the order of the first report, and the names of the measures
/// that only one has. Recorded metrics come last.
pub(super) fn measured<'r, D: Domain>(
    reports: &[Titled<'r, D>],
    shared: &BTreeSet<&'r CaseId>,
    clusters: Option<&CaseClusters<'_>>,
    dollars: impl Fn(usize, &CaseReport<D>) -> Option<f64>,
) -> (Vec<(Measured, Vec<&'r CaseId>)>, Vec<String>) {
    let summaries: Vec<(&str, &Summary)> = reports
        .iter()
        .map(|titled| (titled.title, titled.summary))
        .collect();
    let values: Vec<_> = reports.iter().map(|it| it.report.case_values()).collect();
    let mut measures: Vec<Placed<'r>> = Vec::new();
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
            if own.len() < 2 {
                alone.push(matched.title);
                continue;
            }
            let better = match unit {
                Unit::Metric if matched.title == COST => Direction::Lower,
                Unit::Metric => Direction::Unknown,
                _ => matched.better,
            };
            let columns = own.iter();
            let columns: Vec<(usize, &Values<'_>)> = columns
                .map(|(place, title)| (*place, values[*place].of(unit, title)))
                .collect();
            let place = own
                .first()
                .and_then(|(report, title)| reports[*report].summary.place(title));
            let mean_title = matched.mean_title.filter(|_| unit == Unit::Score);
            let named = (matched.title, mean_title, unit, better);
            measures.push((
                place.unwrap_or(usize::MAX),
                over(named, &columns, shared, clusters),
            ));
        }
    }
    measures.sort_by_key(|(place, _)| *place);
    let mut measures: Vec<_> = measures.into_iter().map(|(_, measured)| measured).collect();
    let has_cost = measures.iter().any(|(it, _)| it.measure == COST);
    if !has_cost {
        measures.extend(costs(reports, shared, clusters, dollars));
    }
    (measures, alone)
}

/// The values of a measure over the shared cases that have one in each of its reports.
fn over<'r>(
    (measure, mean_title, unit, better): (String, Option<String>, Unit, Direction),
    columns: &[(usize, &Values<'_>)],
    shared: &BTreeSet<&'r CaseId>,
    clusters: Option<&CaseClusters<'_>>,
) -> (Measured, Vec<&'r CaseId>) {
    let mut cases: Vec<&CaseId> = Vec::new();
    let mut excluded: BTreeMap<String, usize> = BTreeMap::new();
    let mut without_value = vec![0; columns.len()];
    for id in shared {
        let of_case: Vec<Option<Result<f64, &str>>> = columns
            .iter()
            .map(|(_, values)| values.get(id).copied())
            .collect();
        let is_there = |value: &Option<Result<f64, &str>>| matches!(value, Some(Ok(_)));
        if of_case.iter().all(is_there) {
            cases.push(id);
        } else if of_case.iter().any(is_there) {
            for (count, value) in without_value.iter_mut().zip(&of_case) {
                *count += usize::from(!is_there(value));
            }
        } else if let Some(reason) = of_case.iter().flatten().find_map(|it| it.err()) {
            *excluded.entry(reason.to_owned()).or_default() += 1;
        }
    }
    let values = columns.iter().map(|(_, values)| {
        let of_cases = cases.iter().filter_map(|id| values.get(id)?.ok());
        of_cases.collect()
    });
    let measured = Measured {
        measure,
        mean_title,
        unit,
        better,
        excluded,
        clusters: clusters.map(|clusters| clusters.among(cases.iter().copied())),
        values: values.collect(),
        reports: columns.iter().map(|(place, _)| *place).collect(),
        without_value,
    };
    (measured, cases)
}

/// What the cases of each report cost; `None` unless every report has a cost for some case, and some case costs something.
fn costs<'r, D: Domain>(
    reports: &[Titled<'r, D>],
    shared: &BTreeSet<&'r CaseId>,
    clusters: Option<&CaseClusters<'_>>,
    dollars: impl Fn(usize, &CaseReport<D>) -> Option<f64>,
) -> Option<(Measured, Vec<&'r CaseId>)> {
    let column = |(place, titled): (usize, &Titled<'r, D>)| -> Values<'r> {
        let report: &'r Report<D> = titled.report;
        let mut sums: BTreeMap<&CaseId, (f64, u32)> = BTreeMap::new();
        for case in &report.cases {
            if let Some(dollars) = dollars(place, case).filter(|it| it.is_finite()) {
                let (sum, count) = sums.entry(&case.id).or_default();
                *sum += dollars;
                *count += 1;
            }
        }
        let means = sums.into_iter();
        means
            .map(|(id, (sum, count))| (id, Ok(sum / f64::from(count))))
            .collect()
    };
    let columns: Vec<Values<'_>> = reports.iter().enumerate().map(column).collect();
    let costs_anything =
        |values: &Values<'_>| values.values().any(|it| it.is_ok_and(|cost| cost > 0.0));
    let is_known = columns.iter().all(|values| !values.is_empty());
    (is_known && columns.iter().any(costs_anything)).then(|| {
        let named = (COST.to_owned(), None, Unit::Metric, Direction::Lower);
        let columns: Vec<(usize, &Values<'_>)> = columns.iter().enumerate().collect();
        over(named, &columns, shared, clusters)
    })
}
