//! Comparison rows for the bounds of a pass rate when cases failed.

use std::collections::BTreeMap;

use super::measures::{Matched, Summaries, matched};
use super::row::{Cell, Row};
use crate::{Accuracy, Direction, Unit};

/// Adds rows for worst case, best case and coverage after each pass rate that has failures in any report.
///
/// These rows cover the same number of cases no matter how many failed, so they can have a winner where the pass rate
/// cannot.
pub(super) fn beside(pass_rates: Vec<Row>, summaries: Summaries<'_>) -> Vec<Row> {
    let accuracies = matched(summaries, |summary| &summary.accuracy);
    let mut rows = Vec::new();
    for pass_rate in pass_rates {
        let accuracy = accuracies
            .iter()
            .find(|measure| measure.title == pass_rate.measure);
        rows.push(pass_rate);
        rows.extend(accuracy.into_iter().flat_map(open));
    }
    rows
}

fn open(measure: &Matched<'_, Accuracy>) -> Vec<Row> {
    let mut values = measure.values.iter().flatten();
    if values.all(|accuracy| accuracy.is_complete()) {
        return Vec::new();
    }
    let row = |name: &str, better: Direction, share: fn(&Accuracy) -> Option<f64>| {
        let cells = measure.values.iter();
        let cells = cells.map(|value| value.map_or(Cell::Missing, |value| cell(value, share)));
        let title = format!("{} ({name})", measure.title);
        Row::new(title, Unit::Share, better, cells.collect())
    };
    vec![
        row("worst", measure.better, |accuracy| accuracy.worst),
        row("best", measure.better, |accuracy| accuracy.best),
        row("coverage", Direction::Higher, |accuracy| accuracy.coverage),
    ]
}

fn cell(accuracy: &Accuracy, share: fn(&Accuracy) -> Option<f64>) -> Cell {
    match share(accuracy) {
        Some(value) => Cell::Value {
            value,
            interval: None,
            n: accuracy.cases,
            excluded: BTreeMap::new(),
        },
        None => Cell::Undefined {
            reasons: accuracy.scored.excluded.keys().cloned().collect(),
        },
    }
}
