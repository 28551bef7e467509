//! Prints the verdicts of a gate for a terminal.

use std::io::{self, Write};

use super::super::gate;
use super::super::grid::Style;
use super::Page;
use crate::{GateReport, GateVerdict, GatedRun};

impl<W: Write> Page<W> {
    pub(super) fn gate(&mut self, report: &GateReport) -> io::Result<()> {
        for (place, run) in report.runs.iter().enumerate() {
            if place > 0 {
                writeln!(self.out)?;
            }
            self.gated_run(report, run)?;
        }
        writeln!(self.out)?;
        self.notes(gate::notes(report))?;
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
        self.table(gate::grid(report, run, self.glyphs))?;
        writeln!(self.out)?;
        for (verdict, reason) in gate::reasons(run) {
            self.wrapped(style(verdict), &reason)?;
        }
        Ok(())
    }
}

fn style(verdict: GateVerdict) -> Style {
    match verdict {
        GateVerdict::Passed => Style::Plain,
        GateVerdict::CannotTell => Style::Warning,
        GateVerdict::Failed => Style::Error,
    }
}
