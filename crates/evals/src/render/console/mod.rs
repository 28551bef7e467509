//! Tables for a terminal.

mod badness;
mod cases;
mod change;
mod comparison;
mod details;
mod drawing;
mod gate;
mod page;
mod report;
mod settings;
mod shorten;
mod table;
mod texts;
mod wrap;

use std::io::{self, Write};

use evals_metrics::Percentiles;

use super::failures::Failures;
use super::glyphs::{Glyphs, Symbols};
use super::grid::{Grid, Style};
use super::side_by_side::Intervals;
use super::{latency, measures, side_by_side, tables, trial};
use crate::summary::Histograms;
use crate::{
    CaseId, Change, Comparison, Domain, GateReport, Report, Standings, Summary, TrialReport,
};
pub use cases::{Cases, Part};
use page::Page;
pub use settings::{Color, Drawings, Messages, Methods};
use table::{ConsoleTable, Look};
pub use texts::{Names, Narrow};

/// Renders for a terminal of a given width.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// Columns of the terminal; 80 by default. A wider table shortens labels, or leaves out columns and says which.
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
    /// Whether lines below a table say how its intervals were computed; on by default.
    pub methods: Methods,
}

impl Default for Console {
    fn default() -> Self {
        Self {
            width: 80,
            color: Color::default(),
            symbols: Symbols::default(),
            messages: Messages::default(),
            drawings: Drawings::default(),
            methods: Methods::default(),
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
        let draws = self.drawings == Drawings::On;
        let histograms = draws.then(|| report.case_values().histograms());
        let (shown, hidden) = summary.without_usual::<D>();
        page.measures(&shown, &histograms.unwrap_or_default())?;
        if let Some(line) = hidden {
            page.wrapped(Style::Dim, &line)?;
        }
        page.table(measures::accuracy(summary, self.glyphs()))?;
        page.grouped_means(summary)?;
        page.table(latency::grid(summary, self.glyphs()))?;
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

    /// Writes the worst of the wanted cases, in a few lines each, and how many there are.
    pub fn worst_cases<D: Domain>(
        &self,
        out: impl Write,
        report: &Report<D>,
        most: usize,
        wanted: impl Fn(&CaseId) -> bool,
    ) -> io::Result<()> {
        Page::new(*self, out).worst_cases(report, most, wanted)
    }

    /// Writes the measures of each group of cases; nothing if the summary has no groups.
    pub fn groups(&self, out: impl Write, summary: &Summary) -> io::Result<()> {
        Page::new(*self, out).grouped_means(summary)
    }

    /// Writes several reports side by side, the best of each row marked.
    ///
    /// Intervals are printed beside their values, or below them if the table is too wide. If it is still too wide, each
    /// report has a row of its own, and the measures are spread over several tables.
    pub fn comparison(&self, out: impl Write, comparison: &Comparison) -> io::Result<()> {
        let mut page = Page::new(*self, out);
        page.comparison(comparison)
    }

    /// Writes the lines that name the methods of the intervals of a comparison and the clusters of its cases; nothing without intervals.
    pub fn interval_methods(&self, out: impl Write, comparison: &Comparison) -> io::Result<()> {
        let mut page = Page::new(*self, out);
        page.notes(side_by_side::intervals(comparison, self.methods))
    }

    /// Writes a change: a row for each measure, then the cases that changed most by the first measure.
    ///
    /// If the page is too narrow, intervals and then other columns are left out and named.
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
        let mut page = Page::new(*self, out);
        for line in trial::about(report) {
            page.wrapped(Style::Bold, &line)?;
        }
        let grid = |intervals| trial::grid(report, intervals, page.glyphs);
        let grids = [Intervals::Beside, Intervals::Below].map(grid);
        let fits = |grid: &Grid| {
            ConsoleTable::new(grid, Look::Ruled).natural_width() <= usize::from(self.width)
        };
        let [beside, below] = grids;
        page.table(if fits(&beside) { beside } else { below })?;
        writeln!(page.out)?;
        page.notes(trial::notes(report, page.glyphs))
    }

    /// Writes the measures of a summary, without anything about single cases: what a report prints below its headline.
    pub fn measures(&self, out: impl Write, summary: &Summary) -> io::Result<()> {
        let mut page = Page::new(*self, out);
        page.measures(summary, &Histograms::new())?;
        page.table(measures::accuracy(summary, self.glyphs()))
    }

    /// Writes a latency table, one row for each stage.
    pub fn latency(&self, out: impl Write, stages: &[(String, Percentiles)]) -> io::Result<()> {
        Page::new(*self, out).table(latency::stages(stages, self.glyphs()))
    }

    /// Writes a table of texts with its notes. Columns of numbers are aligned to the right.
    pub fn table(&self, out: impl Write, table: &tables::Table, narrow: Narrow) -> io::Result<()> {
        Page::new(*self, out).texts(table, narrow)
    }

    /// Writes a table of texts like a listing of a shell: titles in capitals, no rule, everything to the left. A page that is too narrow shortens
    /// texts, and then leaves out columns, first those of these titles.
    pub fn listing(
        &self,
        out: impl Write,
        table: &tables::Table,
        least: &[&str],
        names: Names,
    ) -> io::Result<()> {
        Page::new(*self, out).listing(table, least, names)
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
