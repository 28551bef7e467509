//! `evaluations gate`: judges runs by rules, alone or against a baseline.

mod simulation;

use anyhow::{Result, bail};
use evals::{
    ByPeople, CheckNumbers, GateCheck, GateReport, GateVerdict, GatedRun, Subject, Unit, render,
};
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::calibrations::{CalibrationStore, RequiredAgreement, by_people};
use evals_terminal::{Printer, console, text};

use crate::cli::GateArgs;
use crate::gating::{self, Gating, Side, VerdictFile, VerdictFormat};

pub(super) fn execute(session: &Session<'_>, arguments: &GateArgs) -> Result<Exit> {
    if arguments.simulation.simulate {
        return simulation::execute(session, arguments);
    }
    let printer = session.printer;
    let files = VerdictFile::all(&arguments.out, &["xml", "json", "md"])?;
    let allowed = arguments.allow.iter().copied();
    let Gating {
        mut written,
        required,
    } = gating::gating(
        &arguments.rules,
        allowed,
        arguments.require_calibrated_judge,
    )?;
    let key = arguments.rules.cluster.as_ref();
    let baselines = gating::baselines(session, &arguments.baseline, key)?;
    let runs = gating::runs(session, &arguments.runs, key)?;
    written.gate.seed = runs.first().map_or(0, |run| run.seed);
    let gate = &written.gate;
    let matched = gating::matched(&runs, &baselines, &gate.allowed)?;
    let judges = judges(session, required, &runs)?;
    let baseline = |place: Option<usize>| place.and_then(|place| baselines.get(place));
    let subjects: Vec<Subject<'_>> = runs
        .iter()
        .zip(&matched)
        .zip(&judges)
        .map(|((run, place), checks)| Subject {
            run: &run.snapshot,
            baseline: baseline(*place).map(|side| &side.snapshot),
            checks,
        })
        .collect();
    let mut report = gate
        .judge(&subjects, &gating::Names)
        .map_err(|error| written.located(error))?;
    for ((gated, run), place) in report.runs.iter_mut().zip(&runs).zip(&matched) {
        if let Some(baseline) = baseline(*place) {
            gated.made_by = run.made_by(baseline);
            gated.by_people = people(gated, [baseline, run], report.level);
        }
    }
    leave_out_unruled(printer, &mut report)?;
    printer.result(&text(|out| console(printer).gate(out, &report))?)?;
    write_all(printer, &files, &report)?;
    let changes = report.runs.iter().flat_map(|run| &run.by_people);
    for warning in changes.filter_map(ByPeople::warning) {
        printer.warn(&warning);
    }
    gating::announce(printer, arguments.github, &report)?;
    if report.is_closed() {
        return Ok(Exit::CheckFailed);
    }
    if report.verdict == GateVerdict::CannotTell {
        printer.warn("for at least one rule, the cases are too few to decide; this exit code does not mean that the rule holds");
    }
    Ok(Exit::Done)
}

/// Takes out the runs that no rule is about, such as the answers of a command whose searches are judged. Fails if none is left.
fn leave_out_unruled(printer: &Printer, report: &mut GateReport) -> Result<()> {
    let (ruled, unruled): (Vec<GatedRun>, Vec<GatedRun>) = std::mem::take(&mut report.runs)
        .into_iter()
        .partition(|run| !run.checks.is_empty());
    if ruled.is_empty() {
        bail!(
            "no rule is about a measure of these runs; `--min`, `--max` and `--max-drop` name measures"
        );
    }
    for run in unruled {
        printer.note(&format!(
            "left out `{}`: no rule is about its measures",
            run.run
        ));
    }
    report.runs = ruled;
    Ok(())
}

fn write_all(printer: &Printer, files: &[VerdictFile], report: &GateReport) -> Result<()> {
    for file in files {
        file.write(printer, |out| match file.format() {
            VerdictFormat::Junit => render::junit::gate(out, report),
            VerdictFormat::Json => render::json::gate(out, report),
            VerdictFormat::Markdown => render::markdown::gate(out, report),
        })?;
    }
    Ok(())
}

/// The changes of the tested pass rates, corrected by labels of both runs.
fn people(gated: &GatedRun, [baseline, run]: [&Side; 2], level: f64) -> Vec<ByPeople> {
    let (Some(before), Some(after)) = (&baseline.stored, &run.stored) else {
        return Vec::new();
    };
    let judged = gated
        .checks
        .iter()
        .filter_map(|check| match &check.numbers {
            CheckNumbers::Drop(drop) if drop.unit == Unit::PassRate => {
                Some((drop.measure.clone(), drop.change(1.0 - level)))
            }
            _ => None,
        });
    by_people([before, after], judged)
}

/// The checks of the judges of each run, none where none is asked for. Fails if one is, and no run has a judge.
fn judges(
    session: &Session<'_>,
    required: Option<RequiredAgreement>,
    runs: &[Side],
) -> Result<Vec<Vec<GateCheck>>> {
    let Some(required) = required else {
        return Ok(runs.iter().map(|_| Vec::new()).collect());
    };
    let (calibrations, problems) = CalibrationStore::of(&session.directories).list()?;
    for problem in problems {
        session.printer.warn(&problem);
    }
    let checks = |run: &Side| match &run.stored {
        Some(stored) => required.checks(&calibrations, stored),
        None => Ok(Vec::new()),
    };
    let checks: Vec<Vec<GateCheck>> = runs.iter().map(checks).collect::<Result<_>>()?;
    if checks.iter().all(Vec::is_empty) {
        let names: Vec<String> = runs
            .iter()
            .map(|run| format!("`{}`", run.snapshot.title))
            .collect();
        bail!(
            "`--require-calibrated-judge` needs a judge that passes or fails answers, and no run has one: {}",
            names.join(", ")
        );
    }
    Ok(checks)
}
