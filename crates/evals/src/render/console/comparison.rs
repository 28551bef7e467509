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
        let full = table(comparison, Intervals::Shown, self.glyphs);
        let bare = table(comparison, Intervals::Hidden, self.glyphs);
        let (natural, width) = (full.natural_width(), usize::from(self.console.width));
        let fits = natural <= width;
        let chosen = if fits { full } else { bare };
        chosen.write(&mut self.out, self.console, self.glyphs)?;
        if !fits && side_by_side::any_interval(comparison) {
            let note =
                format!("intervals are left out: they take {natural} columns, there are {width}");
            self.wrapped(Style::Dim, &note)?;
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
            .map(|report| Column::new(single_line(report), Align::Left)),
    );
    let mut table = Table::new(columns);
    for row in &comparison.rows {
        let mut entries = vec![Entry::plain(side_by_side::title(row))];
        for (position, cell) in row.cells.iter().enumerate() {
            let text = side_by_side::cell(row, cell, intervals, glyphs);
            entries.push(if row.winner == Some(position) {
                Entry::bold(format!("{text} {}", glyphs.winner))
            } else {
                Entry::plain(text)
            });
        }
        table.push(entries);
    }
    table
}
