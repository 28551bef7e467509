//! A report on its way to a terminal.

use std::io::{self, Write};

use super::super::glyphs::Glyphs;
use super::super::grid::{Align, ColumnHead, Grid, Style};
use super::table::{ConsoleTable, Look, no_room};
use super::{Console, Messages, wrap};

/// A rendering in progress.
pub(super) struct Page<W> {
    pub(super) console: Console,
    pub(super) glyphs: &'static Glyphs,
    pub(super) out: W,
    /// The titles of the columns that the last table had no room for.
    pub(super) left_out: Vec<String>,
}

impl<W: Write> Page<W> {
    pub(super) fn new(console: Console, out: W) -> Self {
        Self {
            console,
            glyphs: console.glyphs(),
            out,
            left_out: Vec::new(),
        }
    }

    /// Writes an empty line, a table below its heading, and its notes; nothing without rows.
    pub(super) fn table(&mut self, grid: Grid) -> io::Result<()> {
        if grid.rows.is_empty() {
            return Ok(());
        }
        writeln!(self.out)?;
        if !grid.heading.is_empty() {
            self.wrapped(Style::Bold, &grid.heading)?;
        }
        self.table_at_once(grid)
    }

    /// Writes a table and its notes below the line before. Drawings that do not fit are left out.
    pub(super) fn table_at_once(&mut self, mut grid: Grid) -> io::Result<()> {
        let width = usize::from(self.console.width);
        let is_drawing = |it: &ColumnHead| it.align == Align::Drawing;
        while let Some(last) = grid.columns.iter().rposition(is_drawing)
            && ConsoleTable::new(&grid, Look::Ruled).natural_width() > width
        {
            grid.remove(last);
        }
        self.left_out.clear();
        let table = ConsoleTable::new(&grid, Look::Ruled);
        let folded = table.folded(width, self.glyphs.ellipsis);
        match folded.filter(|_| grid.folds) {
            Some(groups) => self.groups(&table, &groups)?,
            None => self.fitting_columns(&table)?,
        }
        self.notes(grid.notes)
    }

    /// Writes the columns of a table that fit, and names the others.
    pub(super) fn fitting_columns(&mut self, table: &ConsoleTable<'_>) -> io::Result<()> {
        let left_out = table.write(&mut self.out, self.console, self.glyphs)?;
        if left_out.is_empty() {
            return Ok(());
        }
        self.left_out = left_out.iter().map(ToString::to_string).collect();
        self.wrapped(Style::Dim, &no_room(&left_out))
    }

    /// Writes groups of a table's columns, one below the other.
    pub(super) fn groups(
        &mut self,
        table: &ConsoleTable<'_>,
        groups: &[Vec<usize>],
    ) -> io::Result<()> {
        for (number, group) in groups.iter().enumerate() {
            if number > 0 {
                writeln!(self.out)?;
            }
            table.write_columns(group, &mut self.out, self.console, self.glyphs)?;
        }
        Ok(())
    }

    pub(super) fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", self.console.color.paint(style, text))
    }

    /// Writes text over as many lines as it needs, broken at spaces.
    pub(super) fn wrapped(&mut self, style: Style, text: &str) -> io::Result<()> {
        for line in wrap::wrap(text, self.console.width.into()) {
            self.line(style, &line)?;
        }
        Ok(())
    }

    /// Writes text in one line, cut at the page's width unless whole messages are asked for.
    pub(super) fn message(&mut self, text: &str) -> io::Result<()> {
        match self.console.messages {
            Messages::Whole => writeln!(self.out, "{text}"),
            Messages::Cut => writeln!(
                self.out,
                "{}",
                wrap::cut(text, self.console.width.into(), self.glyphs.ellipsis)
            ),
        }
    }
}
