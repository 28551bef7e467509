//! Lines of a trend as a table for the terminal, a pipe and Markdown.

use std::fmt::Write as _;

use evals::render::Drawings;
use evals::render::tables::Table;
use evals_messages::visible;
use evals_terminal::listing::Layout;
use evals_terminal::{Printer, console};

use super::drop::Check;
use super::line::Line;

/// The titles of the columns.
const HEADER: [&str; 11] = [
    "dataset",
    "cases",
    "data",
    "benchmark",
    "profile",
    "measure",
    "runs",
    "first",
    "last",
    "change",
    "level changes",
];

/// The place of the column before the drawing.
const CHANGE: usize = 9;

/// The title of the drawing, which only a terminal shows.
const TREND: &str = "trend";

/// Columns that a narrow terminal drops, the least important first.
const DROPPED_WHEN_NARROW: [&str; 7] = [
    "data",
    "cases",
    "benchmark",
    "runs",
    "first",
    "level changes",
    "profile",
];

/// Most values of a drawing, the newest.
const DRAWN: usize = 24;

pub(super) fn text(printer: &Printer, lines: &[Line<'_>], checks: &[Check]) -> String {
    let layout = Layout::of(printer)
        .dropping(&DROPPED_WHEN_NARROW)
        .shortening_names();
    let rows: Vec<Vec<String>> = lines.iter().map(row).collect();
    let mut text =
        drawn(printer, lines, &rows, layout).unwrap_or_else(|| layout.render(&HEADER, &rows));
    for sentence in lines.iter().flat_map(Line::sentences) {
        let _ = writeln!(text, "note: {}", visible::line(&sentence));
    }
    for check in checks {
        let _ = writeln!(text, "{}", visible::line(&check.to_string()));
    }
    text
}

/// The table with a small drawing of each line, if the terminal shows drawings and has room.
fn drawn(
    printer: &Printer,
    lines: &[Line<'_>],
    rows: &[Vec<String>],
    layout: Layout<'_>,
) -> Option<String> {
    let console = console(printer);
    if console.drawings == Drawings::Off {
        return None;
    }
    let inserted = |mut row: Vec<String>, cell: String| {
        row.insert(CHANGE + 1, cell);
        row
    };
    let mut any = false;
    let drawn: Vec<Vec<String>> = lines
        .iter()
        .zip(rows)
        .map(|(line, row)| {
            let values: Vec<Option<f64>> = line.points.iter().map(|it| it.value).collect();
            let newest = &values[values.len().saturating_sub(DRAWN)..];
            let is_line = newest.iter().flatten().count() > 1;
            let drawing = console.symbols.sparkline(newest).filter(|_| is_line);
            any |= drawing.is_some();
            inserted(row.clone(), drawing.unwrap_or_default())
        })
        .collect();
    let titles: Vec<String> = inserted(HEADER.map(str::to_owned).to_vec(), TREND.to_owned());
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    any.then(|| layout.render(&titles, &drawn))
}

/// The lines as a table for documents.
pub(super) fn table(lines: &[Line<'_>]) -> Table {
    Table {
        heads: HEADER.map(str::to_owned).to_vec(),
        rows: lines.iter().map(row).collect(),
        notes: lines.iter().flat_map(Line::sentences).collect(),
    }
}

fn row(line: &Line<'_>) -> Vec<String> {
    let unit = line.measure.unit;
    let [first, last, change] = line.ends();
    let print = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |it| unit.print(it));
    let values = [
        line.points.len().to_string(),
        print(first),
        print(last),
        change.map_or_else(|| "–".to_owned(), |it| unit.print_signed(it)),
        line.found(),
    ];
    line.key().into_iter().chain(values).collect()
}
