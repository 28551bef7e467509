//! The rows of the measure table.

use std::collections::BTreeMap;

use evals_metrics::{Interval, Mean};

use super::single_line::single_line;
use crate::{LabelShares, Summary, number};

/// One printed row.
#[derive(Debug)]
pub(super) struct MeasureRow {
    pub(super) name: String,
    /// `None` where the measure is undefined.
    pub(super) value: Option<String>,
    pub(super) interval: Option<String>,
    pub(super) n: usize,
    /// How many cases were left out; of labels and of all assertions how many repetitions.
    pub(super) excluded: usize,
    /// How many repetitions are missing in the other cases.
    pub(super) missing: usize,
}

/// All rows: scores, pass rates, labels, metrics.
pub(super) fn rows(summary: &Summary) -> Vec<MeasureRow> {
    let missing = &summary.missing_repetitions;
    let mut rows = Vec::new();
    rows.extend(summary.scores.iter().map(|(name, mean)| {
        let missing = missing_of(&missing.scores, name);
        mean_row(single_line(name), mean, missing, number::score)
    }));
    rows.extend(summary.assertions.iter().map(|(name, mean)| {
        let missing = missing_of(&missing.assertions, name);
        mean_row(pass_rate_name(name), mean, missing, number::score)
    }));
    rows.extend(pooled_row(summary));
    rows.extend(
        summary
            .labels
            .iter()
            .flat_map(|(name, shares)| label_rows(name, shares)),
    );
    rows.extend(summary.metrics.iter().map(|(name, mean)| {
        let missing = missing_of(&missing.metrics, name);
        mean_row(single_line(name), mean, missing, number::metric)
    }));
    rows
}

fn missing_of(missing: &[(String, BTreeMap<String, usize>)], name: &str) -> usize {
    let of_measure = missing.iter().find(|(candidate, _)| candidate == name);
    of_measure.map_or(0, |(_, reasons)| reasons.values().sum())
}

/// How a pass rate is told from a score of the same name.
pub(super) fn pass_rate_name(name: &str) -> String {
    format!("{} (pass rate)", single_line(name))
}

fn mean_row(name: String, mean: &Mean, missing: usize, print: fn(f64) -> String) -> MeasureRow {
    MeasureRow {
        name,
        value: mean.value.map(print),
        interval: mean
            .interval
            .map(|Interval { low, high, .. }| format!("[{}, {}]", print(low), print(high))),
        n: mean.n,
        excluded: mean.excluded.values().sum(),
        missing,
    }
}

/// All assertions together; says nothing new where there is a single one.
fn pooled_row(summary: &Summary) -> Option<MeasureRow> {
    (summary.assertions.len() > 1).then(|| MeasureRow {
        name: "all assertions (pass rate)".to_owned(),
        value: summary.pass_rate.value.map(number::score),
        interval: None,
        n: summary.pass_rate.n,
        excluded: summary.pass_rate.excluded.values().sum(),
        missing: 0,
    })
}

fn label_rows(name: &str, shares: &LabelShares) -> Vec<MeasureRow> {
    let row = |label: &String| MeasureRow {
        name: format!("{}: {}", single_line(name), single_line(label)),
        value: shares.share(label).map(number::score),
        interval: None,
        n: shares.n,
        excluded: shares.excluded.values().sum(),
        missing: 0,
    };
    shares.counts.keys().map(row).collect()
}

/// The confidence level of the intervals in percent, where there is an interval.
pub(super) fn confidence_percent(summary: &Summary) -> Option<String> {
    let lists = [&summary.scores, &summary.assertions, &summary.metrics];
    let interval = lists
        .into_iter()
        .flatten()
        .find_map(|(_, mean)| mean.interval)?;
    // Rounded first, because 0.95 * 100 need not be 95 in binary.
    Some(format!("{} %", (interval.level * 1e4).round() / 1e2))
}
