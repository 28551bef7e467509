//! Prints tables of texts for a terminal.

use std::io::{self, Write};

use evals_messages::visible::{line, single_line};

use super::super::tables;
use super::Page;
use super::paint::Style;
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable};

/// What becomes of the columns of a table that a page has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrow {
    /// They go into further tables below, each with the first column.
    Fold,
    /// They are left out and named, first those with these titles, in that order.
    Drop(&'static [&'static str]),
}

impl<W: Write> Page<W> {
    pub(super) fn texts(&mut self, texts: &tables::Table, narrow: Narrow) -> io::Result<()> {
        let columns = texts.heads.iter().enumerate().map(|(place, head)| {
            let align = if place > 0 && is_of_numbers(texts, place) {
                Align::Right
            } else {
                Align::Left
            };
            ConsoleColumn::new(line(head), align)
        });
        let mut table = ConsoleTable::new(columns.collect());
        if let Narrow::Drop(least) = narrow {
            table = table.dropping(least.iter().copied());
        }
        for row in &texts.rows {
            table.push(
                row.iter()
                    .map(|cell| ConsoleCell::plain(line(cell)))
                    .collect(),
            );
        }
        let width = usize::from(self.console.width);
        match table.folded(width).filter(|_| narrow == Narrow::Fold) {
            Some(groups) => self.groups(&table, &groups)?,
            None => self.table_at_once(&table)?,
        }
        for note in &texts.notes {
            self.wrapped(Style::Dim, &single_line(note))?;
        }
        Ok(())
    }
}

/// Whether a column has numbers: counts, values, changes or limits.
fn is_of_numbers(texts: &tables::Table, place: usize) -> bool {
    let mut cells = texts.rows.iter().filter_map(|row| row.get(place));
    cells
        .any(|cell| cell.starts_with(|first: char| first.is_ascii_digit() || "+-<".contains(first)))
}
