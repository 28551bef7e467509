//! The measure table, and that of pass rates with their bounds.

use std::collections::BTreeMap;
use std::iter;

use evals_messages::visible::single_line;
use evals_metrics::Mean;

use super::glyphs::Glyphs;
use super::grid::{Align, Cell, Grid};
use super::{Methods, clusters, exclusions, interval_methods};
use crate::naming::pass_rate_name;
use crate::probability::percent;
use crate::{LabelShares, Summary, number};

/// One printed row.
#[derive(Debug, Default)]
pub(super) struct MeasureRow {
    pub(super) name: String,
    /// `None` where the measure is undefined.
    pub(super) value: Option<String>,
    pub(super) interval: Option<String>,
    /// The value where it is one from 0 to 1; never that of a metric.
    pub(super) share: Option<f64>,
    /// The title of the score, if it is one.
    pub(super) score: Option<String>,
    pub(super) n: usize,
    /// The number of excluded cases; for labels and the pooled pass rate, of repetitions.
    pub(super) excluded: usize,
    /// The number of missing repetitions in the other cases.
    pub(super) missing: usize,
}

/// The table of the rows. Excluded cases have a column whether there are any or not.
pub(super) fn grid(summary: &Summary, rows: &[MeasureRow], glyphs: &Glyphs) -> Grid {
    let confidence = confidence_percent(summary);
    let interval = confidence.map(|percent| (format!("{percent} interval"), Align::Left));
    let any_missing = rows.iter().any(|row| row.missing > 0);
    let right = |title: &str| (title.to_owned(), Align::Right);
    let columns = [("Measure".to_owned(), Align::Left), right("Value")].into_iter();
    let columns = columns
        .chain(interval.clone())
        .chain([right("n"), right("Excluded")]);
    let columns = columns.chain(any_missing.then(|| right(MISSING)));
    // The lines below the table repeat both.
    let mut grid = Grid::new(columns).dropping(&[MISSING, "Excluded"]);
    for row in rows {
        let shown = |text: &Option<String>| text.clone().unwrap_or_default();
        let value = glyphs.shown(row.value.as_ref(), String::clone);
        let cells = [row.name.clone().into(), Cell::bold(value, true)].into_iter();
        let cells = cells.chain(interval.as_ref().map(|_| Cell::dim(shown(&row.interval))));
        let counts = [row.n, row.excluded].into_iter();
        let counts = counts.chain(any_missing.then_some(row.missing));
        grid.push(cells.chain(counts.map(|count| count.to_string().into())));
    }
    grid
}

/// The lines below the table.
pub(super) fn notes(summary: &Summary, methods: Methods, glyphs: &Glyphs) -> Vec<String> {
    let mut notes = exclusions::lines(summary, glyphs);
    let clusters = summary.clusters.as_ref();
    match methods {
        Methods::Named => {
            notes.extend(interval_methods::of_summary(summary));
            notes.extend(clusters::lines(clusters));
        }
        Methods::Unnamed => notes.extend(clusters::warnings(clusters)),
    }
    notes
}

/// The title of the column of missing repetitions.
pub(super) const MISSING: &str = "Missing repetitions";

/// All rows: the measures of evaluators in the order of the run, then metrics.
pub(super) fn rows(summary: &Summary) -> Vec<MeasureRow> {
    let mut rows = evaluated(summary);
    rows.extend(pooled_row(summary));
    let missing = &summary.missing_repetitions;
    rows.extend(summary.metrics.iter().map(|(name, mean)| {
        let missing = missing_of(&missing.metrics, name);
        mean_row(single_line(name), mean, missing, number::metric)
    }));
    rows
}

/// Scores, pass rates and labels in the order in which evaluators return them, because authors return the most important one
/// first.
fn evaluated(summary: &Summary) -> Vec<MeasureRow> {
    let missing = &summary.missing_repetitions;
    let scores = summary.scores.iter().map(|(name, mean)| {
        let missing = missing_of(&missing.scores, name);
        let title = single_line(summary.mean_title(name));
        let row = MeasureRow {
            score: Some(name.clone()),
            share: mean.value.filter(|value| (0.0..=1.0).contains(value)),
            ..mean_row(title, mean, missing, number::score)
        };
        (summary.place(name), row)
    });
    let assertions = summary.assertions.iter().map(|(name, mean)| {
        let missing = missing_of(&missing.assertions, name);
        let row = MeasureRow {
            share: mean.value,
            ..mean_row(pass_rate_name(name), mean, missing, number::score)
        };
        (summary.place(name), row)
    });
    let labels = summary.labels.iter().flat_map(|(name, shares)| {
        let place = summary.place(name);
        label_rows(name, shares)
            .into_iter()
            .map(move |row| (place, row))
    });
    let mut placed: Vec<_> = scores.chain(assertions).chain(labels).collect();
    // Measures without a known evaluator, from summaries of earlier versions, come last.
    placed.sort_by_key(|(place, _)| place.unwrap_or(usize::MAX));
    placed.into_iter().map(|(_, row)| row).collect()
}

fn missing_of(missing: &[(String, BTreeMap<String, usize>)], name: &str) -> usize {
    let of_measure = missing.iter().find(|(candidate, _)| candidate == name);
    of_measure.map_or(0, |(_, reasons)| reasons.values().sum())
}

fn mean_row(name: String, mean: &Mean, missing: usize, print: fn(f64) -> String) -> MeasureRow {
    MeasureRow {
        name,
        value: mean.value.map(print),
        interval: mean.interval.map(|it| number::range(&it, print)),
        n: mean.n,
        excluded: mean.excluded.values().sum(),
        missing,
        ..MeasureRow::default()
    }
}

/// All assertions together, if the dataset pools them and there are several.
fn pooled_row(summary: &Summary) -> Option<MeasureRow> {
    let pass_rate = summary.pass_rate.as_ref()?;
    (summary.assertions.len() > 1).then(|| MeasureRow {
        name: "all assertions (pass rate)".to_owned(),
        value: pass_rate.value.map(number::score),
        share: pass_rate.value,
        n: pass_rate.n,
        excluded: pass_rate.excluded.values().sum(),
        ..MeasureRow::default()
    })
}

fn label_rows(name: &str, shares: &LabelShares) -> Vec<MeasureRow> {
    let row = |label: &String| MeasureRow {
        name: format!("{}: {}", single_line(name), single_line(label)),
        value: shares.share(label).map(number::score),
        share: shares.share(label),
        n: shares.n,
        excluded: shares.excluded.values().sum(),
        ..MeasureRow::default()
    };
    shares.counts.keys().map(row).collect()
}

/// The confidence level of the intervals in percent, where there is an interval.
fn confidence_percent(summary: &Summary) -> Option<String> {
    let lists = [&summary.scores, &summary.assertions, &summary.metrics];
    let interval = lists
        .into_iter()
        .flatten()
        .find_map(|(_, mean)| mean.interval)?;
    Some(percent(interval.level))
}

/// Explains the columns of bounds.
const BOUNDS: &str = "worst: failed cases count against the system; best: in its favour";

/// The table of pass rates with failures, and their bounds: one row for each assertion that lacks a value in any repetition because of a
/// failure. The measure table is enough for the others.
pub(super) fn accuracy(summary: &Summary, glyphs: &Glyphs) -> Grid {
    let shares = ["Scored", "Worst", "Best", "Coverage"].map(|it| (it, Align::Right));
    let mut grid = Grid::new(iter::once(("Failures included", Align::Left)).chain(shares));
    let accuracy = summary.accuracy.iter();
    for (name, accuracy) in accuracy.filter(|(_, accuracy)| !accuracy.is_complete()) {
        let shares = [
            accuracy.scored.value,
            accuracy.worst,
            accuracy.best,
            accuracy.coverage,
        ];
        let shares = shares.map(|share| glyphs.shown(share, number::score));
        grid.push(iter::once(pass_rate_name(name)).chain(shares));
    }
    grid.notes.push(BOUNDS.to_owned());
    grid
}
