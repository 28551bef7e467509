//! Prints a comparison for a terminal.

use std::io::{self, Write};

use evals_messages::visible::single_line;

use super::super::glyphs::Glyphs;
use super::super::side_by_side::{self, Intervals};
use super::Page;
use super::paint::Style;
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable, no_room};
use crate::{Comparison, Row};

impl<W: Write> Page<W> {
    pub(super) fn comparison(&mut self, comparison: &Comparison) -> io::Result<()> {
        self.side_by_side(comparison)?;
        for note in side_by_side::notes(comparison, self.glyphs, self.glyphs.winner) {
            self.wrapped(Style::Dim, &note)?;
        }
        Ok(())
    }

    fn side_by_side(&mut self, comparison: &Comparison) -> io::Result<()> {
        let width = usize::from(self.console.width);
        let layouts = [Intervals::Beside, Intervals::Below];
        let mut layouts = layouts
            .map(|intervals| by_measure(comparison, intervals, self.glyphs))
            .into_iter();
        if let Some(table) = layouts.find(|table| table.natural_width() <= width) {
            table.write(&mut self.out, self.console, self.glyphs)?;
            return Ok(());
        }
        for intervals in [Intervals::Beside, Intervals::Below] {
            let table = by_report(comparison, intervals, self.glyphs);
            if let Some(groups) = table.folded(width, self.glyphs.ellipsis) {
                return self.groups(&table, &groups);
            }
        }
        let table = by_report(comparison, Intervals::Hidden, self.glyphs);
        // If not even one value fits beside a title, no layout fits. A table that is too wide is then better than an
        // incomplete one.
        let one_by_one = (1..=comparison.rows.len()).map(|column| vec![0, column]);
        let groups = table.folded(width, self.glyphs.ellipsis);
        let groups = groups.unwrap_or_else(|| one_by_one.collect());
        self.groups(&table, &groups)?;
        if side_by_side::any_interval(comparison) {
            self.wrapped(Style::Dim, &no_room(&["intervals"]))?;
        }
        Ok(())
    }
}

/// A row for each measure, a column for each report.
fn by_measure(comparison: &Comparison, intervals: Intervals, glyphs: &Glyphs) -> ConsoleTable {
    let mut columns = vec![ConsoleColumn::new("Measure", Align::Left)];
    columns.extend(
        comparison
            .reports
            .iter()
            .map(|report| ConsoleColumn::new(single_line(&report.title), Align::Left)),
    );
    let mut table = ConsoleTable::new(columns);
    for row in &comparison.rows {
        let mut entries = vec![ConsoleCell::plain(side_by_side::title(row))];
        let cells = (0..row.cells.len()).map(|place| entry(row, place, intervals, glyphs));
        entries.extend(cells);
        table.push(entries);
    }
    table
}

/// A row for each report, a column for each measure.
fn by_report(comparison: &Comparison, intervals: Intervals, glyphs: &Glyphs) -> ConsoleTable {
    let mut columns = vec![ConsoleColumn::new("", Align::Left)];
    let titles = comparison.rows.iter().map(side_by_side::title);
    columns.extend(titles.map(|title| ConsoleColumn::new(title, Align::Left)));
    let mut table = ConsoleTable::new(columns);
    for (place, report) in comparison.reports.iter().enumerate() {
        let mut entries = vec![ConsoleCell::plain(single_line(&report.title))];
        let rows = comparison.rows.iter();
        entries.extend(rows.map(|row| entry(row, place, intervals, glyphs)));
        table.push(entries);
    }
    table
}

/// A report's value of a measure, marked if it is the best.
fn entry(row: &Row, place: usize, intervals: Intervals, glyphs: &Glyphs) -> ConsoleCell {
    let cell = &row.cells[place];
    if row.winner == Some(place) {
        let mark = format!(" {}", glyphs.winner);
        ConsoleCell::bold(side_by_side::cell(row, cell, &mark, intervals, glyphs))
    } else {
        ConsoleCell::plain(side_by_side::cell(row, cell, "", intervals, glyphs))
    }
}
