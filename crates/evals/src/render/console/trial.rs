//! Prints the self-test of a gate for a terminal.

use std::io::{self, Write};

use super::super::glyphs::Glyphs;
use super::super::side_by_side::Intervals;
use super::super::trial::{self, TITLES};
use super::Page;
use super::paint::Style;
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable};
use crate::TrialReport;

/// The columns that a narrow page drops first. How often the gate cannot tell says whether there are enough cases, so it stays.
const LEAST: [&str; 3] = ["Fails with --strict", "Rule", "Fails"];

impl<W: Write> Page<W> {
    pub(super) fn trial(&mut self, report: &TrialReport) -> io::Result<()> {
        for line in trial::about(report) {
            self.wrapped(Style::Bold, &line)?;
        }
        let beside = table_of_shares(report, Intervals::Beside, self.glyphs);
        let table = if beside.natural_width() <= usize::from(self.console.width) {
            beside
        } else {
            table_of_shares(report, Intervals::Below, self.glyphs)
        };
        self.table(&table)?;
        writeln!(self.out)?;
        for note in trial::notes(report, self.glyphs) {
            self.wrapped(Style::Dim, &note)?;
        }
        Ok(())
    }
}

fn table_of_shares(report: &TrialReport, intervals: Intervals, glyphs: &Glyphs) -> ConsoleTable {
    let column = |title: &str| {
        let is_text = matches!(title, "True drop" | "Rule");
        let align = if is_text { Align::Left } else { Align::Right };
        ConsoleColumn::new(title, align)
    };
    let mut table = ConsoleTable::new(TITLES.map(column).into()).dropping(LEAST);
    for row in trial::rows(report, intervals, glyphs) {
        table.push(row.map(ConsoleCell::plain).into());
    }
    table
}
