//! The sections of a report.

use std::io::{self, Write};

use evals_messages::visible::single_line;

use super::super::analyses::{self, Body};
use super::super::failures::Failures;
use super::super::grid::Style;
use super::super::measures::{self, MISSING, MeasureRow};
use super::super::{groups, headline};
use super::{Drawings, Page};
use crate::summary::{BINS, Histograms};
use crate::{Domain, Report, Summary};

/// The title of the bars, an axis as wide as they are.
const BARS: &str = "0        1";
/// The title of the histograms, likewise.
const HISTOGRAMS: &str = "0 cases  1";

const _: () = assert!(HISTOGRAMS.len() == BINS, "a bin is a column");

impl<W: Write> Page<W> {
    pub(super) fn headline<D: Domain>(
        &mut self,
        report: &Report<D>,
        summary: &Summary,
    ) -> io::Result<()> {
        let name = single_line(&summary.name);
        self.wrapped(Style::Bold, &name)?;
        self.wrapped(Style::Dim, &headline::facts(summary, self.glyphs))?;
        self.facts(report)?;
        match headline::interruption(summary) {
            Some(warning) => self.wrapped(Style::Warning, &warning),
            None => Ok(()),
        }
    }

    fn facts<D: Domain>(&mut self, report: &Report<D>) -> io::Result<()> {
        for (label, text) in report.facts() {
            let fact = format!("{}: {}", single_line(label), single_line(text));
            self.wrapped(Style::Dim, &fact)?;
        }
        Ok(())
    }

    pub(super) fn measures(
        &mut self,
        summary: &Summary,
        histograms: &Histograms,
    ) -> io::Result<()> {
        let rows = measures::rows(summary);
        let mut grid = measures::grid(summary, &rows, self.glyphs);
        for title in ["Excluded", MISSING] {
            if let Some(place) = grid.place(title) {
                grid.hide_zeros(place);
            }
        }
        if self.console.drawings == Drawings::On {
            let symbols = self.console.symbols;
            let histogram = |row: &MeasureRow| {
                let bins = histograms.get(row.score.as_ref()?)?;
                symbols.histogram(bins)
            };
            let bar = |row: &MeasureRow| Some(symbols.bar(row.share?, BARS.len()));
            // After the interval, and after the value.
            let n = grid.place("n").unwrap_or_default();
            grid.draw(n, HISTOGRAMS, rows.iter().map(histogram).collect());
            grid.draw(2, BARS, rows.iter().map(bar).collect());
        }
        grid.notes = measures::notes(summary, self.console.methods, self.glyphs);
        self.table(grid)
    }

    pub(super) fn grouped_means(&mut self, summary: &Summary) -> io::Result<()> {
        let tables = summary.groups.iter();
        let mut tables = tables.flat_map(|it| groups::summarised(it, self.glyphs));
        tables.try_for_each(|table| self.table(table))
    }

    pub(super) fn analyses<D: Domain>(&mut self, report: &Report<D>) -> io::Result<()> {
        for analysis in &report.analyses {
            let shown = analyses::shown(analysis, self.glyphs);
            writeln!(self.out)?;
            self.wrapped(Style::Bold, &shown.title)?;
            if let Some(description) = &shown.description {
                self.wrapped(Style::Dim, description)?;
            }
            match shown.body {
                Body::Lines(lines) => {
                    for line in lines {
                        self.wrapped(Style::Plain, &line)?;
                    }
                }
                Body::Table(grid) => {
                    writeln!(self.out)?;
                    self.table_at_once(grid)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn failures(&mut self, failures: &Failures) -> io::Result<()> {
        if failures.total == 0 {
            return Ok(());
        }
        writeln!(self.out)?;
        self.line(Style::Error, &format!("Failures ({})", failures.total))?;
        for (place, message) in &failures.first {
            self.message(&format!("  {place}: {message}"))?;
        }
        match failures.more() {
            0 => Ok(()),
            more => self.line(Style::Dim, &format!("  and {more} more")),
        }
    }
}
