//! Reports side by side.

use std::io::{self, Write};

use super::super::glyphs::Glyphs;
use super::super::side_by_side::{self, Intervals};
use super::super::single_line::single_line;
use super::Page;
use super::paint::Style;
use super::table::{Align, Column, Entry, Table};
use crate::Comparison;

impl<W: Write> Page<W> {
    pub(super) fn comparison(&mut self, comparison: &Comparison) -> io::Result<()> {
        let width = usize::from(self.console.width);
        let layouts = [Intervals::Beside, Intervals::Below];
        let mut layouts = layouts
            .map(|intervals| table(comparison, intervals, self.glyphs))
            .into_iter();
        if let Some(table) = layouts.find(|table| table.natural_width() <= width) {
            table.write(&mut self.out, self.console, self.glyphs)?;
        } else {
            let table = table(comparison, Intervals::Hidden, self.glyphs);
            table.write(&mut self.out, self.console, self.glyphs)?;
            if side_by_side::any_interval(comparison) {
                self.wrapped(
                    Style::Dim,
                    "intervals are left out: there is no room for them",
                )?;
            }
        }
        for note in side_by_side::notes(comparison, self.glyphs) {
            self.wrapped(Style::Dim, &note)?;
        }
        Ok(())
    }
}

fn table(comparison: &Comparison, intervals: Intervals, glyphs: &Glyphs) -> Table {
    let mut columns = vec![Column::new("Measure", Align::Left)];
    columns.extend(
        comparison
            .reports
            .iter()
            .map(|report| Column::new(single_line(&report.title), Align::Left)),
    );
    let mut table = Table::new(columns);
    for row in &comparison.rows {
        let mut entries = vec![Entry::plain(side_by_side::title(row))];
        for (position, cell) in row.cells.iter().enumerate() {
            entries.push(if row.winner == Some(position) {
                let mark = format!(" {}", glyphs.winner);
                Entry::bold(side_by_side::cell(row, cell, &mark, intervals, glyphs))
            } else {
                Entry::plain(side_by_side::cell(row, cell, "", intervals, glyphs))
            });
        }
        table.push(entries);
    }
    table
}
