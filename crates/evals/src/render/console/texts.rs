//! Prints tables of texts for a terminal.

use std::io::{self, Write};

use evals_messages::visible::{line, single_line};

use super::super::grid::{Align, Grid, Style};
use super::super::tables;
use super::Page;
use super::table::{ConsoleTable, Look};

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
        let mut grid = grid(texts, |place, head| {
            let is_number = place > 0 && is_of_numbers(texts, place);
            let align = if is_number {
                Align::Right
            } else {
                Align::Label
            };
            (head, align)
        });
        match narrow {
            Narrow::Fold => grid.folds = true,
            Narrow::Drop(least) => grid = grid.dropping(least),
        }
        self.table_at_once(grid)?;
        self.notes(texts.notes.iter().map(|note| single_line(note)))
    }

    pub(super) fn listing(
        &mut self,
        texts: &tables::Table,
        least: &[&str],
        names: Names,
    ) -> io::Result<()> {
        let mut grid = grid(texts, |place, head| {
            let is_whole = place == 0 && names == Names::Whole;
            let is_kept = is_whole || is_of_numbers(texts, place);
            let align = if is_kept { Align::Left } else { Align::Label };
            (head.to_uppercase(), align)
        });
        let least = least.iter().map(|title| title.to_uppercase());
        grid.least = least.collect();
        self.fitting_columns(&ConsoleTable::new(&grid, Look::Plain))
    }

    /// Writes lines below a table.
    pub(super) fn notes(&mut self, notes: impl IntoIterator<Item = String>) -> io::Result<()> {
        let mut notes = notes.into_iter();
        notes.try_for_each(|note| self.wrapped(Style::Dim, &note))
    }
}

fn grid(texts: &tables::Table, column: impl Fn(usize, String) -> (String, Align)) -> Grid {
    let heads = texts.heads.iter().enumerate();
    let mut grid = Grid::new(heads.map(|(place, head)| column(place, line(head))));
    for row in &texts.rows {
        grid.push(row.iter().map(|cell| line(cell)));
    }
    grid
}

/// Whether a column has numbers: counts, values, changes or limits.
fn is_of_numbers(texts: &tables::Table, place: usize) -> bool {
    let mut cells = texts.rows.iter().filter_map(|row| row.get(place));
    cells
        .any(|cell| cell.starts_with(|first: char| first.is_ascii_digit() || "+-<".contains(first)))
}
