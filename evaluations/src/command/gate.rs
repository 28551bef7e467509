//! `evaluations gate`: judges runs by rules, alone or against a baseline.

use anyhow::Result;
use evals::{Allowance, GateVerdict, Subject, render};

use crate::cli::GateArgs;
use crate::exit::Exit;
use crate::gating::{self, VerdictFile, VerdictFormat};
use crate::session::Session;
use crate::terminal::{console, text};

pub(super) fn execute(session: &Session<'_>, arguments: &GateArgs) -> Result<Exit> {
    let printer = session.printer;
    let files = VerdictFile::all(&arguments.out, &["xml", "json", "md"])?;
    let allowed = arguments.allow.iter().copied().map(Allowance::from);
    let mut gate = gating::gate(&arguments.rules, allowed, 0)?;
    let baselines = gating::baselines(session, &arguments.baseline)?;
    let runs = gating::runs(session, arguments.run.as_deref())?;
    gate.seed = runs.first().map_or(0, |run| run.seed);
    let matched = gating::matched(&runs, &baselines)?;
    let baseline = |place: Option<usize>| place.and_then(|place| baselines.get(place));
    let subjects: Vec<Subject<'_>> = runs
        .iter()
        .zip(&matched)
        .map(|(run, place)| Subject {
            run: &run.snapshot,
            baseline: baseline(*place).map(|side| &side.snapshot),
        })
        .collect();
    let mut report = gate.judge(&subjects, &gating::means)?;
    for ((gated, run), place) in report.runs.iter_mut().zip(&runs).zip(&matched) {
        if let Some(baseline) = baseline(*place) {
            gated.made_by = run.made_by(baseline);
        }
    }
    printer.result(&text(|out| console(printer).gate(out, &report))?)?;
    for file in &files {
        file.write(printer, |out| match file.format() {
            VerdictFormat::Junit => render::junit::gate(out, &report),
            VerdictFormat::Json => render::json::gate(out, &report),
            VerdictFormat::Markdown => render::markdown::gate(out, &report),
        })?;
    }
    gating::announce(printer, arguments.github, &report)?;
    if report.is_closed() {
        return Ok(Exit::CheckFailed);
    }
    if report.verdict == GateVerdict::CannotTell {
        printer.warn("the gate cannot tell about every rule, so passing it shows little");
    }
    Ok(Exit::Done)
}
