//! Prints the self-test of a gate for a terminal.

use std::io::{self, Write};

use super::super::trial::{self, TITLES};
use super::Page;
use super::paint::Style;
use super::table::{Align, Column, Entry, Table};
use crate::TrialReport;

impl<W: Write> Page<W> {
    pub(super) fn trial(&mut self, report: &TrialReport) -> io::Result<()> {
        for line in trial::about(report) {
            self.wrapped(Style::Bold, &line)?;
        }
        let column = |title: &str| {
            let is_text = matches!(title, "True drop" | "Rule");
            let align = if is_text { Align::Left } else { Align::Right };
            Column::new(title, align)
        };
        let mut table = Table::new(TITLES.map(column).into());
        for row in trial::rows(report, self.glyphs) {
            table.push(row.map(Entry::plain).into());
        }
        self.table(&table)?;
        writeln!(self.out)?;
        for note in trial::notes(report, self.glyphs) {
            self.wrapped(Style::Dim, &note)?;
        }
        Ok(())
    }
}
