//! Prints tables of texts for a terminal.

use std::io::{self, Write};

use evals_messages::visible::{line, single_line};

use super::super::tables;
use super::Page;
use super::paint::Style;
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable, Look};

/// What becomes of the columns of a table that a page has no room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrow {
    /// They go into further tables below, each with the first column.
    Fold,
    /// They are left out and named, first those with these titles, in that order.
    Drop(&'static [&'static str]),
}

/// The first column of a listing on a narrow page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Whole, because people copy the names into commands.
    Whole,
    /// Shortened, as other columns are.
    Shortened,
}

impl<W: Write> Page<W> {
    pub(super) fn texts(&mut self, texts: &tables::Table, narrow: Narrow) -> io::Result<()> {
        let mut table = table(texts, |place, head| {
            let align = if place > 0 && is_of_numbers(texts, place) {
                Align::Right
            } else {
                Align::Label
            };
            ConsoleColumn::new(head, align)
        });
        if let Narrow::Drop(least) = narrow {
            table = table.dropping(least.iter().copied());
        }
        let width = usize::from(self.console.width);
        let folded = table.folded(width, self.glyphs.ellipsis);
        match folded.filter(|_| narrow == Narrow::Fold) {
            Some(groups) => self.groups(&table, &groups)?,
            None => self.table_at_once(&table)?,
        }
        for note in &texts.notes {
            self.wrapped(Style::Dim, &single_line(note))?;
        }
        Ok(())
    }

    pub(super) fn listing(
        &mut self,
        texts: &tables::Table,
        least: &[&str],
        names: Names,
    ) -> io::Result<()> {
        let table = table(texts, |place, head| {
            let is_whole = place == 0 && names == Names::Whole;
            let align = if is_whole || is_of_numbers(texts, place) {
                Align::Left
            } else {
                Align::Label
            };
            ConsoleColumn::new(head.to_uppercase(), align)
        });
        let least = least.iter().map(|title| title.to_uppercase());
        self.table_at_once(&table.dropping(least).looking(Look::Plain))
    }
}

fn table(texts: &tables::Table, column: impl Fn(usize, String) -> ConsoleColumn) -> ConsoleTable {
    let heads = texts.heads.iter().enumerate();
    let columns = heads.map(|(place, head)| column(place, line(head)));
    let mut table = ConsoleTable::new(columns.collect());
    for row in &texts.rows {
        let cells = row.iter().map(|cell| ConsoleCell::plain(line(cell)));
        table.push(cells.collect());
    }
    table
}

/// Whether a column has numbers: counts, values, changes or limits.
fn is_of_numbers(texts: &tables::Table, place: usize) -> bool {
    let mut cells = texts.rows.iter().filter_map(|row| row.get(place));
    cells
        .any(|cell| cell.starts_with(|first: char| first.is_ascii_digit() || "+-<".contains(first)))
}
