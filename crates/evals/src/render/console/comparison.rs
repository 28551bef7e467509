//! Prints comparisons and standings for a terminal.

use std::io::{self, Write};

use evals_messages::visible::single_line;

use super::super::grid::{Align, Grid, Style};
use super::super::side_by_side::{self, Intervals};
use super::super::standings::sections;
use super::super::standings_notes::{notes, warnings};
use super::table::{ConsoleTable, Look, no_room};
use super::{Drawings, Page};
use crate::{Comparison, Standings};

impl<W: Write> Page<W> {
    pub(super) fn comparison(&mut self, comparison: &Comparison) -> io::Result<()> {
        self.side_by_side(comparison)?;
        let winner = self.glyphs.winner;
        self.notes(side_by_side::notes(comparison, self.glyphs, winner))
    }

    pub(super) fn standings(&mut self, standings: &Standings) -> io::Result<()> {
        self.notes(standings.made_by.iter().map(|line| single_line(line)))?;
        for warning in warnings(standings) {
            self.wrapped(Style::Warning, &warning)?;
        }
        let draws = self.console.drawings == Drawings::On;
        let drawn = draws.then_some(self.console.symbols);
        for section in sections(standings, self.glyphs, drawn) {
            self.table(section)?;
        }
        writeln!(self.out)?;
        self.notes(notes(standings, self.glyphs))
    }

    fn side_by_side(&mut self, comparison: &Comparison) -> io::Result<()> {
        let width = usize::from(self.console.width);
        let mark = format!(" {}", self.glyphs.winner);
        let grid = |intervals| side_by_side::grid(comparison, &mark, intervals, self.glyphs);
        for grid in [Intervals::Beside, Intervals::Below].map(grid) {
            let table = ConsoleTable::new(&grid, Look::Ruled);
            if table.natural_width() <= width {
                table.write(&mut self.out, self.console, self.glyphs)?;
                return Ok(());
            }
        }
        for grid in [Intervals::Beside, Intervals::Below].map(grid) {
            let grid = by_report(&grid);
            let table = ConsoleTable::new(&grid, Look::Ruled);
            if let Some(groups) = table.folded(width, self.glyphs.ellipsis) {
                return self.groups(&table, &groups);
            }
        }
        let grid = by_report(&grid(Intervals::Hidden));
        let table = ConsoleTable::new(&grid, Look::Ruled);
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

/// A row for each report, a column for each measure: the table with rows and columns exchanged.
fn by_report(grid: &Grid) -> Grid {
    let measures = grid.rows.iter().map(|row| row[0].text.clone());
    let titles = std::iter::once(String::new()).chain(measures);
    let mut exchanged = Grid::new(titles.map(|title| (title, Align::Left)));
    for (place, report) in grid.columns.iter().enumerate().skip(1) {
        let cells = grid.rows.iter().map(|row| row[place].clone());
        exchanged.push(std::iter::once(report.title.clone().into()).chain(cells));
    }
    exchanged
}
