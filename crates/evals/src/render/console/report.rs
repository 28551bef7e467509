//! The sections of a report.

use std::io::{self, Write};
use std::iter;

use evals_messages::visible::single_line;

use super::super::analyses::{self, Body};
use super::super::failures::Failures;
use super::super::latency::{self, LatencyRow, TOO_FEW_SAMPLES};
use super::super::{accuracy, clusters, exclusions, headline, interval_methods, measures};
use super::histograms::Histograms;
use super::measure_table::{self, DrawnBars};
use super::paint::Style;
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable};
use super::{Drawings, Methods, Page};
use crate::{Domain, Report, Summary};

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
        if rows.is_empty() {
            return Ok(());
        }
        let symbols = self.console.symbols;
        let drawn = match self.console.drawings {
            Drawings::On => vec![
                DrawnBars::BarsAndHistograms(symbols, histograms),
                DrawnBars::Bars(symbols),
            ],
            Drawings::Off => Vec::new(),
        };
        let table = |drawn| measure_table::of(summary, &rows, self.glyphs, drawn);
        let width = usize::from(self.console.width);
        let mut fitting = drawn.into_iter().map(table);
        let fitting = fitting.find(|table| table.natural_width() <= width);
        self.table(&fitting.unwrap_or_else(|| table(DrawnBars::Nothing)))?;
        let mut lines = exclusions::lines(summary, self.glyphs);
        let clusters = summary.clusters.as_ref();
        match self.console.methods {
            Methods::Named => {
                lines.extend(interval_methods::of_summary(summary));
                lines.extend(clusters::lines(clusters));
            }
            Methods::Unnamed => lines.extend(clusters::warnings(clusters)),
        }
        let mut lines = lines.iter();
        lines.try_for_each(|line| self.wrapped(Style::Dim, line))
    }

    pub(super) fn accuracy(&mut self, summary: &Summary) -> io::Result<()> {
        let rows = accuracy::rows(summary);
        if rows.is_empty() {
            return Ok(());
        }
        let [name, shares @ ..] = accuracy::TITLES;
        let mut columns = vec![ConsoleColumn::new(name, Align::Left)];
        columns.extend(shares.map(|title| ConsoleColumn::new(title, Align::Right)));
        let mut table = ConsoleTable::new(columns);
        for row in rows {
            let shares = row.shares.map(|share| self.or_undefined(share));
            let mut entries = vec![ConsoleCell::plain(row.name)];
            entries.extend(shares.map(ConsoleCell::plain));
            table.push(entries);
        }
        self.table(&table)?;
        self.wrapped(Style::Dim, accuracy::LEGEND)
    }

    pub(super) fn latency_table(&mut self, rows: Vec<LatencyRow>) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let undefined = latency::any_undefined(&rows);
        let right = |title: &str| ConsoleColumn::new(title, Align::Right);
        let mut columns = vec![ConsoleColumn::new("Latency", Align::Left)];
        columns.extend(latency::titles(undefined).map(right));
        columns.push(right("n"));
        let mut table = ConsoleTable::new(columns);
        for row in rows {
            let n = row.n.to_string();
            let mut entries = vec![ConsoleCell::plain(row.stage.clone())];
            let times = row.times(undefined);
            entries.extend(times.map(|time| ConsoleCell::plain(self.or_undefined(time))));
            entries.push(ConsoleCell::plain(n));
            table.push(entries);
        }
        self.table(&table)?;
        if undefined {
            let note = format!("{} {}", self.glyphs.undefined, TOO_FEW_SAMPLES);
            self.line(Style::Dim, &note)?;
        }
        Ok(())
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
                Body::Table { heads, rows } => {
                    let aligns = [Align::Left].into_iter().chain(iter::repeat(Align::Right));
                    let columns = heads.into_iter().zip(aligns);
                    let columns = columns.map(|(head, align)| ConsoleColumn::new(head, align));
                    let mut table = ConsoleTable::new(columns.collect());
                    for row in rows {
                        table.push(row.into_iter().map(ConsoleCell::plain).collect());
                    }
                    self.table(&table)?;
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
