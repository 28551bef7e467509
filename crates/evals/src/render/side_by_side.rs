//! The texts of a comparison.

use super::glyphs::Glyphs;
use super::measures::pass_rate_name;
use super::single_line::single_line;
use crate::{Cell, Comparison, Row, Unit};

/// Whether intervals are part of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intervals {
    Shown,
    Hidden,
}

/// The name of a row.
pub(super) fn title(row: &Row) -> String {
    match row.unit {
        Unit::PassRate => pass_rate_name(&row.measure),
        Unit::Score | Unit::Metric | Unit::Seconds => single_line(&row.measure),
    }
}

/// A cell without its mark for the winner.
pub(super) fn cell(row: &Row, cell: &Cell, intervals: Intervals, glyphs: &Glyphs) -> String {
    let print = |value| glyphs.spell(&row.unit.print(value));
    match cell {
        Cell::Missing => "missing".to_owned(),
        Cell::Undefined { .. } => glyphs.undefined.to_owned(),
        Cell::Value {
            value, interval, ..
        } => match interval.filter(|_| intervals == Intervals::Shown) {
            Some(interval) => format!(
                "{} [{}, {}]",
                print(*value),
                print(interval.low),
                print(interval.high)
            ),
            None => print(*value),
        },
    }
}

/// What a reader has to know besides the numbers: over how many cases, and why some are undefined.
pub(super) fn notes(comparison: &Comparison, glyphs: &Glyphs) -> Vec<String> {
    let undefined = comparison
        .rows
        .iter()
        .filter_map(|row| undefined_note(row, comparison, glyphs));
    sizes(comparison).into_iter().chain(undefined).collect()
}

/// One note where all means are over the same number of cases, else one for each measure.
fn sizes(comparison: &Comparison) -> Vec<String> {
    let rows: Vec<&Row> = comparison
        .rows
        .iter()
        .filter(|row| row.unit != Unit::Seconds)
        .collect();
    let mut all = rows.iter().flat_map(|row| &row.cells).filter_map(Cell::n);
    let Some(first) = all.next() else {
        return Vec::new();
    };
    if all.all(|n| n == first) {
        return vec![format!("n = {first}")];
    }
    rows.into_iter()
        .filter_map(|row| size_note(row, comparison))
        .collect()
}

fn size_note(row: &Row, comparison: &Comparison) -> Option<String> {
    let sizes = row.cells.iter().zip(&comparison.reports);
    let sizes: Vec<String> = sizes
        .filter_map(|(cell, report)| Some(format!("{} ({})", cell.n()?, single_line(report))))
        .collect();
    (!sizes.is_empty()).then(|| format!("n of {}: {}", title(row), sizes.join(", ")))
}

fn undefined_note(row: &Row, comparison: &Comparison, glyphs: &Glyphs) -> Option<String> {
    let undefined =
        row.cells
            .iter()
            .zip(&comparison.reports)
            .filter_map(|(cell, report)| match cell {
                Cell::Undefined { reasons } => Some(format!(
                    "{} ({})",
                    single_line(&reasons.join(", ")),
                    single_line(report)
                )),
                Cell::Value { .. } | Cell::Missing => None,
            });
    let undefined: Vec<String> = undefined.collect();
    (!undefined.is_empty()).then(|| {
        format!(
            "{} {}: {}",
            glyphs.undefined,
            title(row),
            undefined.join("; ")
        )
    })
}
