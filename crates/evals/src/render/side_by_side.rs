//! The texts of a comparison: titles, cells and notes.

use std::collections::BTreeMap;

use evals_messages::visible::single_line;

use super::exclusions::named;
use super::glyphs::Glyphs;
use super::grid::{Align, Cell, Grid};
use super::headline::not_run;
use super::{Methods, clusters, interval_methods};
use crate::naming::{gathered, title_of};
use crate::{Cell as ComparedCell, ComparedReport, Comparison, Row, Unit, number};

/// Explains the mark of the best cell.
const BEST: &str = "best after rounding, not a significance test";

/// The place of a cell's interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Intervals {
    /// After the value.
    Beside,
    /// In a second line.
    Below,
    /// Nowhere.
    Hidden,
}

/// The name of a row.
pub(super) fn title(row: &Row) -> String {
    title_of(row.unit, row.title())
}

/// A row for each measure, a column for each report. The best cell of a row stands out and has a `mark` after its value.
pub(super) fn grid(
    comparison: &Comparison,
    mark: &str,
    intervals: Intervals,
    glyphs: &Glyphs,
) -> Grid {
    let titles = comparison.reports.iter().map(|it| single_line(&it.title));
    let titles = std::iter::once("Measure".to_owned()).chain(titles);
    let mut grid = Grid::new(titles.map(|title| (title, Align::Left)));
    for row in &comparison.rows {
        let cells = row.cells.iter().enumerate().map(|(place, own)| {
            let is_best = row.winner == Some(place);
            let mark = if is_best { mark } else { "" };
            Cell::bold(cell(row, own, mark, intervals, glyphs), is_best)
        });
        grid.push(std::iter::once(title(row).into()).chain(cells));
    }
    grid
}

/// A cell, with `mark` after its value.
fn cell(
    row: &Row,
    cell: &ComparedCell,
    mark: &str,
    intervals: Intervals,
    glyphs: &Glyphs,
) -> String {
    let print = |value| glyphs.spell(&row.unit.print(value));
    let (value, interval) = match cell {
        ComparedCell::Missing => return "missing".to_owned(),
        ComparedCell::Undefined { .. } => return glyphs.undefined.to_owned(),
        ComparedCell::Value {
            value, interval, ..
        } => (print(*value), interval),
    };
    match (interval, intervals) {
        (Some(it), Intervals::Beside) => format!("{value} {}{mark}", number::range(it, print)),
        (Some(it), Intervals::Below) => format!("{value}{mark}\n{}", number::range(it, print)),
        (Some(_), Intervals::Hidden) | (None, _) => format!("{value}{mark}"),
    }
}

/// Whether any cell has an interval to show.
pub(super) fn any_interval(comparison: &Comparison) -> bool {
    let mut cells = comparison.rows.iter().flat_map(|row| &row.cells);
    cells.any(|cell| {
        matches!(
            cell,
            ComparedCell::Value {
                interval: Some(_),
                ..
            }
        )
    })
}

/// The notes below the table: the number of cases, why values are undefined, and the meaning of `mark`.
pub(super) fn notes(comparison: &Comparison, glyphs: &Glyphs, mark: &str) -> Vec<String> {
    let undefined = comparison
        .rows
        .iter()
        .filter_map(|row| undefined_note(row, comparison, glyphs));
    let interrupted = comparison.reports.iter().filter_map(interruption);
    let any_winner = comparison.rows.iter().any(|row| row.winner.is_some());
    let legend = any_winner.then(|| format!("{mark} {BEST}"));
    interrupted
        .chain(sizes(comparison))
        .chain(exclusions(comparison, glyphs))
        .chain(undefined)
        .chain(legend)
        .collect()
}

/// The methods of the intervals, and the clusters that they count.
pub(super) fn intervals(comparison: &Comparison, methods: Methods) -> Vec<String> {
    let intervals = comparison.rows.iter().flat_map(|row| {
        let cells = row.cells.iter().filter_map(|cell| match cell {
            ComparedCell::Value { interval, .. } => *interval,
            ComparedCell::Undefined { .. } | ComparedCell::Missing => None,
        });
        cells.map(|interval| (title(row), interval))
    });
    let clusters = comparison
        .reports
        .iter()
        .find_map(|it| it.clusters.as_ref());
    match methods {
        Methods::Named => interval_methods::note(intervals)
            .into_iter()
            .chain(clusters::lines(clusters))
            .collect(),
        Methods::Unnamed => clusters::warnings(clusters),
    }
}

/// A warning that a report does not cover all its cases.
pub(super) fn interruption(report: &ComparedReport) -> Option<String> {
    let title = single_line(&report.title);
    let not_run = not_run(
        report.not_run,
        report.finished.saturating_add(report.not_run),
    );
    match &report.stopped {
        Some(reason) => Some(format!(
            "{title} was stopped, {not_run}: {}",
            single_line(reason)
        )),
        None => (report.not_run > 0).then(|| format!("{title} was interrupted: {not_run}")),
    }
}

/// The number of cases behind the means; measures with the same number share a note.
fn sizes(comparison: &Comparison) -> Vec<String> {
    let rows = comparison.rows.iter();
    let rows = rows.filter(|row| row.unit != Unit::Seconds);
    let groups = gathered(rows.filter_map(|row| Some((size(row, comparison)?, title(row)))));
    match &groups[..] {
        [(size, _)] => vec![size.clone()],
        _ => groups
            .iter()
            .map(|(size, measures)| format!("{size}: {}", measures.join(", ")))
            .collect(),
    }
}

/// The exclusions from the means: a line for each reason and number of cases. It names reports unless all agree.
fn exclusions(comparison: &Comparison, glyphs: &Glyphs) -> Vec<String> {
    let is_mean = |row: &&Row| matches!(row.unit, Unit::Score | Unit::PassRate | Unit::Metric);
    let means: Vec<&Row> = comparison.rows.iter().filter(is_mean).collect();
    let mut groups: BTreeMap<(&str, usize, Vec<usize>), Vec<String>> = BTreeMap::new();
    for row in &means {
        let mut found: BTreeMap<(&str, usize), Vec<usize>> = BTreeMap::new();
        for (place, cell) in row.cells.iter().enumerate() {
            if let ComparedCell::Value { excluded, .. } = cell {
                for (reason, count) in excluded {
                    found.entry((reason, *count)).or_default().push(place);
                }
            }
        }
        let cells = row.cells.iter();
        let measured = cells.filter(|cell| **cell != ComparedCell::Missing).count();
        for ((reason, count), mut reports) in found {
            if reports.len() == measured {
                reports.clear();
            }
            let group = groups.entry((reason, count, reports)).or_default();
            group.push(title(row));
        }
    }
    let line = |((reason, count, reports), titles): ((&str, usize, Vec<usize>), Vec<String>)| {
        let reports: Vec<String> = reports
            .into_iter()
            .map(|place| single_line(&comparison.reports[place].title))
            .collect();
        let of = if reports.is_empty() {
            String::new()
        } else {
            format!(" in {}", reports.join(", "))
        };
        let what = format!("{count} {} {}", glyphs.times, single_line(reason));
        format!("excluded{of}: {what} ({})", named(&titles, means.len()))
    };
    groups.into_iter().map(line).collect()
}

/// One number if all reports agree, otherwise one for each; `None` if no report has a value.
fn size(row: &Row, comparison: &Comparison) -> Option<String> {
    let sizes = row.cells.iter().zip(&comparison.reports);
    let sizes: Vec<(usize, &ComparedReport)> = sizes
        .filter_map(|(cell, report)| Some((cell.n()?, report)))
        .collect();
    let (first, _) = sizes.first()?;
    if sizes.iter().all(|(n, _)| n == first) {
        return Some(format!("n = {first}"));
    }
    let named: Vec<String> = sizes
        .iter()
        .map(|(n, report)| format!("{n} ({})", single_line(&report.title)))
        .collect();
    Some(format!("n = {}", named.join(", ")))
}

fn undefined_note(row: &Row, comparison: &Comparison, glyphs: &Glyphs) -> Option<String> {
    let undefined =
        row.cells
            .iter()
            .zip(&comparison.reports)
            .filter_map(|(cell, report)| match cell {
                ComparedCell::Undefined { reasons } => Some(format!(
                    "{} ({})",
                    single_line(&reasons.join(", ")),
                    single_line(&report.title)
                )),
                ComparedCell::Value { .. } | ComparedCell::Missing => None,
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
