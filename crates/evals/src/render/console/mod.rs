//! Tables for a terminal.

mod badness;
mod cases;
mod change;
mod comparison;
mod details;
mod drawing;
mod gate;
mod groups;
mod histograms;
mod measure_table;
mod paint;
mod standings;
mod table;
mod trial;
mod wrap;

use std::io::{self, Write};
use std::iter;

use evals_messages::visible::single_line;
use evals_metrics::Percentiles;

use super::analyses::{self, Body};
use super::failures::Failures;
use super::glyphs::Glyphs;
use super::latency::{LatencyRow, TOO_FEW_SAMPLES};
use super::{accuracy, exclusions, headline, interval_methods, latency, measures, side_by_side};
use crate::{
    CaseId, Change, Comparison, Domain, GateReport, Report, Standings, Summary, TrialReport,
};
pub use cases::{Cases, Part};
use histograms::Histograms;
use measure_table::Drawn;
use paint::{Paint, Style};
use table::{Align, Column, Entry, Table};

/// Renders for a terminal of a given width.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// Columns of the terminal; 80 by default. A wider table leaves out columns and says which.
    pub width: u16,
    /// Whether to write ANSI escape codes; off by default.
    pub color: Color,
    /// The characters of lines and marks; Unicode by default.
    pub symbols: Symbols,
    /// Whether failure messages may be longer than a line; cut by default.
    pub messages: Messages,
    /// Whether tables have columns with small drawings of their numbers; off by default. A page that is too narrow leaves them
    /// out.
    pub drawings: Drawings,
}

/// Whether tables have columns with bars, histograms and intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Drawings {
    /// Drawings beside the numbers that they show.
    On,
    /// Numbers only.
    #[default]
    Off,
}

/// Whether to write ANSI escape codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// Bold, dim and coloured text.
    On,
    /// Plain text.
    #[default]
    Off,
}

/// The characters of lines and marks. Names and messages are printed unchanged in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Symbols {
    /// Lines, dashes and stars from Unicode.
    #[default]
    Unicode,
    /// ASCII look-alikes.
    Ascii,
}

/// How much of a failure's message is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Messages {
    /// The part that fits into one line of the terminal.
    #[default]
    Cut,
    /// The whole message in one line, however long: for a log file, which is the only place for the rest.
    Whole,
}

impl Default for Console {
    fn default() -> Self {
        Self {
            width: 80,
            color: Color::default(),
            symbols: Symbols::default(),
            messages: Messages::default(),
            drawings: Drawings::default(),
        }
    }
}

impl Console {
    /// Writes the aggregates of a report: headline, measures, latencies, analyses, first failures.
    pub fn report<D: Domain>(
        &self,
        out: impl Write,
        report: &Report<D>,
        summary: &Summary,
    ) -> io::Result<()> {
        let mut page = Page::new(*self, out);
        page.headline(report, summary)?;
        let histograms = match self.drawings {
            Drawings::On => Histograms::of(report),
            Drawings::Off => Histograms::default(),
        };
        page.measures(summary, &histograms)?;
        page.accuracy(summary)?;
        page.grouped_means(&summary.groups)?;
        page.latency_table(latency::rows(summary, self.glyphs()))?;
        page.analyses(report)?;
        page.failures(&Failures::of(report))
    }

    /// Writes a table of cases, failed and lowest first: cases whose task failed, then those with a failed evaluator, then by the
    /// share of their assertions that hold, then by the mean of their scores. A column is left out where no case fills it. Outcomes
    /// of the dataset's evaluators stand before those of a case's own.
    pub fn cases<D: Domain>(
        &self,
        out: impl Write,
        report: &Report<D>,
        shown: &Cases,
    ) -> io::Result<()> {
        Page::new(*self, out).cases(report, shown)
    }

    /// Writes every part of the wanted cases, and why their outcomes are what they are, in the order of the report.
    pub fn case_details<D: Domain>(
        &self,
        out: impl Write,
        report: &Report<D>,
        wanted: impl Fn(&CaseId) -> bool,
    ) -> io::Result<()> {
        Page::new(*self, out).case_details(report, wanted)
    }

    /// Writes the measures of each group of cases; nothing if the summary has no groups.
    pub fn groups(&self, out: impl Write, summary: &Summary) -> io::Result<()> {
        Page::new(*self, out).grouped_means(&summary.groups)
    }

    /// Writes several reports side by side, the best of each row marked.
    ///
    /// Intervals are printed beside their values, or below them if the table is too wide. If it is still too wide, each
    /// report has a row of its own, and the measures are spread over several tables.
    pub fn comparison(&self, out: impl Write, comparison: &Comparison) -> io::Result<()> {
        let mut page = Page::new(*self, out);
        page.comparison(comparison)
    }

    /// Writes the line that names the methods of the intervals of a comparison; nothing without intervals.
    pub fn interval_methods(&self, out: impl Write, comparison: &Comparison) -> io::Result<()> {
        match side_by_side::intervals(comparison) {
            Some(line) => Page::new(*self, out).wrapped(Style::Dim, &line),
            None => Ok(()),
        }
    }

    /// Writes a change: a row for each measure, then the cases that changed most by the first measure.
    ///
    /// Intervals are left out if the page is too narrow.
    pub fn change(&self, out: impl Write, change: &Change) -> io::Result<()> {
        let mut page = Page::new(*self, out);
        page.change(change)
    }

    /// Writes the verdicts of a gate: a table and the reasons for each run, then the verdict on everything.
    pub fn gate(&self, out: impl Write, report: &GateReport) -> io::Result<()> {
        Page::new(*self, out).gate(report)
    }

    /// Writes standings: means with letters, every pair in the first measure, service times, and the cases on which runs disagree most.
    ///
    /// Columns that do not fit go into further tables, or are left out and named.
    pub fn standings(&self, out: impl Write, standings: &Standings) -> io::Result<()> {
        Page::new(*self, out).standings(standings)
    }

    /// Writes the self-test of a gate: a row for each size of drop, and what it assumes.
    pub fn trial(&self, out: impl Write, report: &TrialReport) -> io::Result<()> {
        Page::new(*self, out).trial(report)
    }

    /// Writes the measures of a summary, without anything about single cases: what a report prints below its headline.
    pub fn measures(&self, out: impl Write, summary: &Summary) -> io::Result<()> {
        let mut page = Page::new(*self, out);
        page.measures(summary, &Histograms::default())?;
        page.accuracy(summary)
    }

    /// Writes a latency table, one row for each stage.
    pub fn latency(&self, out: impl Write, stages: &[(String, Percentiles)]) -> io::Result<()> {
        let mut page = Page::new(*self, out);
        page.latency_table(latency::stages(stages, self.glyphs()))
    }

    /// Writes text over as many lines as it needs, broken at spaces.
    pub fn text(&self, out: impl Write, text: &str) -> io::Result<()> {
        Page::new(*self, out).wrapped(Style::Plain, text)
    }

    fn glyphs(self) -> &'static Glyphs {
        match self.symbols {
            Symbols::Unicode => Glyphs::UNICODE,
            Symbols::Ascii => Glyphs::ASCII,
        }
    }
}

/// A rendering in progress.
struct Page<W> {
    console: Console,
    glyphs: &'static Glyphs,
    paint: Paint,
    out: W,
}

impl<W: Write> Page<W> {
    fn new(console: Console, out: W) -> Self {
        Self {
            console,
            glyphs: console.glyphs(),
            paint: Paint::new(console.color),
            out,
        }
    }

    fn headline<D: Domain>(&mut self, report: &Report<D>, summary: &Summary) -> io::Result<()> {
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

    fn measures(&mut self, summary: &Summary, histograms: &Histograms) -> io::Result<()> {
        let rows = measures::rows(summary);
        if rows.is_empty() {
            return Ok(());
        }
        let symbols = self.console.symbols;
        let drawn = match self.console.drawings {
            Drawings::On => vec![
                Drawn::BarsAndHistograms(symbols, histograms),
                Drawn::Bars(symbols),
            ],
            Drawings::Off => Vec::new(),
        };
        let table = |drawn| measure_table::of(summary, &rows, self.glyphs, drawn);
        let width = usize::from(self.console.width);
        let mut fitting = drawn.into_iter().map(table);
        let fitting = fitting.find(|table| table.natural_width() <= width);
        self.table(&fitting.unwrap_or_else(|| table(Drawn::Nothing)))?;
        let lines = exclusions::lines(summary, self.glyphs).into_iter();
        for line in lines.chain(interval_methods::of_summary(summary)) {
            self.wrapped(Style::Dim, &line)?;
        }
        Ok(())
    }

    fn accuracy(&mut self, summary: &Summary) -> io::Result<()> {
        let rows = accuracy::rows(summary);
        if rows.is_empty() {
            return Ok(());
        }
        let [name, shares @ ..] = accuracy::TITLES;
        let mut columns = vec![Column::new(name, Align::Left)];
        columns.extend(shares.map(|title| Column::new(title, Align::Right)));
        let mut table = Table::new(columns);
        for row in rows {
            let shares = row.shares.map(|share| self.or_undefined(share));
            let mut entries = vec![Entry::plain(row.name)];
            entries.extend(shares.map(Entry::plain));
            table.push(entries);
        }
        self.table(&table)?;
        self.wrapped(Style::Dim, accuracy::LEGEND)
    }

    fn latency_table(&mut self, rows: Vec<LatencyRow>) -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let undefined = latency::any_undefined(&rows);
        let right = |title: &str| Column::new(title, Align::Right);
        let mut columns = vec![Column::new("Latency", Align::Left)];
        columns.extend(latency::titles(undefined).map(right));
        columns.push(right("n"));
        let mut table = Table::new(columns);
        for row in rows {
            let n = row.n.to_string();
            let mut entries = vec![Entry::plain(row.stage.clone())];
            let times = row.times(undefined);
            entries.extend(times.map(|time| Entry::plain(self.or_undefined(time))));
            entries.push(Entry::plain(n));
            table.push(entries);
        }
        self.table(&table)?;
        if undefined {
            let note = format!("{} {}", self.glyphs.undefined, TOO_FEW_SAMPLES);
            self.line(Style::Dim, &note)?;
        }
        Ok(())
    }

    fn analyses<D: Domain>(&mut self, report: &Report<D>) -> io::Result<()> {
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
                    let columns = columns.map(|(head, align)| Column::new(head, align));
                    let mut table = Table::new(columns.collect());
                    for row in rows {
                        table.push(row.into_iter().map(Entry::plain).collect());
                    }
                    self.table(&table)?;
                }
            }
        }
        Ok(())
    }

    fn failures(&mut self, failures: &Failures) -> io::Result<()> {
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

    /// Writes an empty line and a table.
    fn table(&mut self, table: &Table) -> io::Result<()> {
        writeln!(self.out)?;
        self.table_at_once(table)
    }

    /// Writes a table below the line before.
    fn table_at_once(&mut self, table: &Table) -> io::Result<()> {
        let left_out = table.write(&mut self.out, self.console, self.glyphs)?;
        if left_out.is_empty() {
            return Ok(());
        }
        let left_out = format!("no room for {}", left_out.join(", "));
        self.wrapped(Style::Dim, &left_out)
    }

    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", self.paint.apply(style, text))
    }

    /// Writes text over as many lines as it needs, broken at spaces.
    fn wrapped(&mut self, style: Style, text: &str) -> io::Result<()> {
        for line in wrap::wrap(text, self.console.width.into()) {
            self.line(style, &line)?;
        }
        Ok(())
    }

    /// Writes text in one line, cut at the page's width unless whole messages are asked for.
    fn message(&mut self, text: &str) -> io::Result<()> {
        match self.console.messages {
            Messages::Whole => writeln!(self.out, "{text}"),
            Messages::Cut => writeln!(
                self.out,
                "{}",
                wrap::cut(text, self.console.width.into(), self.glyphs.ellipsis)
            ),
        }
    }

    fn or_undefined(&self, text: Option<String>) -> String {
        text.unwrap_or_else(|| self.glyphs.undefined.to_owned())
    }
}
