//! The rows of the measure table, and what was left out of them.

use std::collections::BTreeMap;

use evals_metrics::{Interval, Mean};

use super::glyphs::Glyphs;
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
    /// How many cases were left out.
    pub(super) excluded: usize,
}

/// All rows: scores, pass rates, labels, metrics.
pub(super) fn rows(summary: &Summary) -> Vec<MeasureRow> {
    let mut rows = Vec::new();
    rows.extend(
        summary
            .scores
            .iter()
            .map(|(name, mean)| mean_row(single_line(name), mean, number::score)),
    );
    rows.extend(
        summary
            .assertions
            .iter()
            .map(|(name, mean)| mean_row(pass_rate_name(name), mean, number::score)),
    );
    rows.extend(pooled_row(summary));
    rows.extend(
        summary
            .labels
            .iter()
            .flat_map(|(name, shares)| label_rows(name, shares)),
    );
    rows.extend(
        summary
            .metrics
            .iter()
            .map(|(name, mean)| mean_row(single_line(name), mean, number::metric)),
    );
    rows
}

/// How a pass rate is told from a score of the same name.
pub(super) fn pass_rate_name(name: &str) -> String {
    format!("{} (pass rate)", single_line(name))
}

fn mean_row(name: String, mean: &Mean, print: fn(f64) -> String) -> MeasureRow {
    MeasureRow {
        name,
        value: mean.value.map(print),
        interval: mean
            .interval
            .map(|Interval { low, high, .. }| format!("[{}, {}]", print(low), print(high))),
        n: mean.n,
        excluded: mean.excluded.values().sum(),
    }
}

/// All assertions together; says nothing new where there is a single one.
fn pooled_row(summary: &Summary) -> Option<MeasureRow> {
    (summary.assertions.len() > 1).then(|| MeasureRow {
        name: "all assertions (pass rate)".to_owned(),
        value: summary.pass_rate.value.map(number::score),
        interval: None,
        n: summary.pass_rate.n,
        excluded: 0,
    })
}

fn label_rows(name: &str, shares: &LabelShares) -> Vec<MeasureRow> {
    let row = |label: &String| MeasureRow {
        name: format!("{}: {}", single_line(name), single_line(label)),
        value: shares.share(label).map(number::score),
        interval: None,
        n: shares.n,
        excluded: shares.excluded.values().sum(),
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

/// Why cases were left out, one line for each reason: `12 × no relevant documents (nDCG@5)`.
pub(super) fn exclusions(summary: &Summary, glyphs: &Glyphs) -> Vec<String> {
    let all = excluded_by_measure(summary);
    let mut by_reason: BTreeMap<(&str, usize), Vec<&str>> = BTreeMap::new();
    for (measure, excluded) in &all {
        for (reason, count) in *excluded {
            by_reason.entry((reason, *count)).or_default().push(measure);
        }
    }
    let line = |((reason, count), measures): ((&str, usize), Vec<&str>)| {
        let measures = if measures.len() == all.len() && all.len() > 1 {
            "every measure".to_owned()
        } else {
            measures
                .into_iter()
                .map(single_line)
                .collect::<Vec<_>>()
                .join(", ")
        };
        format!(
            "{count} {} {} ({measures})",
            glyphs.times,
            single_line(reason)
        )
    };
    by_reason.into_iter().map(line).collect()
}

type Excluded<'a> = Vec<(&'a str, &'a BTreeMap<String, usize>)>;

fn excluded_by_measure(summary: &Summary) -> Excluded<'_> {
    let means = [&summary.scores, &summary.assertions, &summary.metrics]
        .into_iter()
        .flatten();
    let means = means.map(|(name, mean)| (name.as_str(), &mean.excluded));
    let labels = summary
        .labels
        .iter()
        .map(|(name, shares)| (name.as_str(), &shares.excluded));
    means.chain(labels).collect()
}
