//! Prints the verdicts of a gate for a terminal.

use std::io::{self, Write};

use super::super::change::CORRECTED;
use super::super::gate::{self, INTERVAL};
use super::Page;
use super::paint::Style;
use super::table::{Align, ConsoleCell, ConsoleColumn, ConsoleTable};
use crate::{GateReport, GateVerdict, GatedRun};

/// The columns that a narrow page drops first, before the interval. The sentences below the table hold their numbers.
const LEAST: [&str; 5] = ["p", CORRECTED, "Baseline", "Change", "Run"];

impl<W: Write> Page<W> {
    pub(super) fn gate(&mut self, report: &GateReport) -> io::Result<()> {
        for (place, run) in report.runs.iter().enumerate() {
            if place > 0 {
                writeln!(self.out)?;
            }
            self.gated_run(report, run)?;
        }
        writeln!(self.out)?;
        for note in gate::notes(report) {
            self.wrapped(Style::Dim, &note)?;
        }
        self.wrapped(style(report.verdict), &gate::verdict_line(report))
    }

    fn gated_run(&mut self, report: &GateReport, run: &GatedRun) -> io::Result<()> {
        for line in gate::about(run) {
            self.wrapped(Style::Bold, &line)?;
        }
        for difference in &run.made_by {
            let difference = evals_messages::visible::single_line(difference);
            self.wrapped(Style::Dim, &format!("  {difference}"))?;
        }
        self.table(&self.table_of_checks(report, run))?;
        writeln!(self.out)?;
        for (verdict, reason) in gate::reasons(run) {
            self.wrapped(style(verdict), &reason)?;
        }
        Ok(())
    }

    fn table_of_checks(&self, report: &GateReport, run: &GatedRun) -> ConsoleTable {
        let mut columns: Vec<ConsoleColumn> = gate::titles(report)
            .into_iter()
            .map(|title| {
                let is_text = matches!(title, "Check" | "Verdict");
                let align = if is_text { Align::Left } else { Align::Right };
                ConsoleColumn::new(title, align)
            })
            .collect();
        let interval = gate::interval_title(report);
        columns.insert(INTERVAL, ConsoleColumn::new(interval.as_str(), Align::Left));
        let mut table =
            ConsoleTable::new(columns).dropping([&LEAST[..], &[interval.as_str()]].concat());
        for row in gate::rows(report, run, self.glyphs) {
            let entry = |text| match row.verdict {
                GateVerdict::Passed => ConsoleCell::plain(text),
                GateVerdict::CannotTell | GateVerdict::Failed => ConsoleCell::bold(text),
            };
            let mut entries: Vec<ConsoleCell> = row.cells.into_iter().map(entry).collect();
            entries.insert(INTERVAL, ConsoleCell::dim(row.interval));
            table.push(entries);
        }
        table
    }
}

fn style(verdict: GateVerdict) -> Style {
    match verdict {
        GateVerdict::Passed => Style::Plain,
        GateVerdict::CannotTell => Style::Warning,
        GateVerdict::Failed => Style::Error,
    }
}
