//! `evaluations labels calibrate`: compares the judge of a run with labels of people, and corrects pass rates for its errors.

mod kept;
mod text;

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::annotations::{
    CurrentLabels, LabelFile, RunAnswers, WantedMeasure, checked_labeller, pairs, people, user_name,
};
use evals_runs::calibrations::{
    Calibration, CalibrationStore, Correction, DecidedLabels, Disagreement, GivenLabels, JudgedRun,
    OtherData, WhoCounts,
};
use evals_runs::clock::{now, timestamp};
use evals_runs::stored_runs::StoredRun;

use crate::cli::CalibrateArgs;

/// The word for the labels beside the run.
const ANNOTATIONS: &str = "annotations";

pub(super) fn execute(session: &Session<'_>, arguments: &CalibrateArgs) -> Result<Exit> {
    let store = CalibrationStore::of(&session.directories);
    if arguments.list {
        return kept::list(session.printer, &store);
    }
    if let Some(wanted) = &arguments.delete {
        return kept::delete(session.printer, &store, wanted);
    }
    let run = arguments.run.as_deref().context("no run is named")?;
    let runs = session.stored_runs();
    let stored = runs.find(run)?;
    match &arguments.with {
        Some(wanted) => correct(session, arguments, &store.find(wanted)?, &stored),
        None => calibrate(session, arguments, &store, &stored),
    }
}

/// Corrects a run with a calibration that is there.
fn correct(
    session: &Session<'_>,
    arguments: &CalibrateArgs,
    calibration: &Calibration,
    stored: &StoredRun,
) -> Result<Exit> {
    let wanted = WantedMeasure::Named(&calibration.judge.measure);
    let answers = RunAnswers::read(stored, wanted)?;
    let run = judged_run(stored, &answers)?;
    let other_data = if arguments.other_data {
        OtherData::Accepted
    } else {
        OtherData::Refused
    };
    let correction = match Correction::of(calibration, &run, other_data) {
        Ok(correction) => correction,
        Err(reason) => {
            let hint = if reason.starts_with("other data") {
                "; `--other-data` accepts it if you know that the judge errs as often there"
            } else {
                ""
            };
            bail!(
                "calibration `{}` does not fit run `{}`: {reason}{hint}",
                calibration.id,
                stored.name()
            )
        }
    };
    session.stored_runs().note_incomplete(stored);
    let text = text::correction(session.printer, &stored.name(), &correction);
    session.printer.result(&text)?;
    Ok(Exit::Done)
}

/// Compares the labels of a run with its judge, and keeps the calibration.
fn calibrate(
    session: &Session<'_>,
    arguments: &CalibrateArgs,
    store: &CalibrationStore,
    stored: &StoredRun,
) -> Result<Exit> {
    let out = arguments.out.as_deref().map(checked_out).transpose()?;
    let wanted = arguments.measure.as_deref();
    let wanted = wanted.map_or(WantedMeasure::OnlyVerdicts, WantedMeasure::Named);
    let answers = RunAnswers::read(stored, wanted)?;
    let run = judged_run(stored, &answers)?;
    let labeller = arguments.chosen.labeller.as_deref().map(checked_labeller);
    let labeller = labeller.transpose()?;
    let given = if arguments.chosen.labels == Path::new(ANNOTATIONS) {
        let folder = stored.folder("keeps the labels")?;
        GivenLabels::of_run(&LabelFile::of(folder))?
    } else {
        let name = labeller.map(str::to_owned).or_else(user_name);
        GivenLabels::of_file(&arguments.chosen.labels, &answers, name, timestamp(now()))?
    };
    let current = CurrentLabels::of(&answers, &given.stored);
    given.check(&answers, &current)?;
    let who = match labeller {
        Some(name) => WhoCounts::Person(name),
        None if arguments.chosen.majority => WhoCounts::Majority,
        None => WhoCounts::Everybody,
    };
    let labels = DecidedLabels::of(&current, who)?;
    let left_out = given.left_out(&current);
    let calibration = Calibration::of(&run, &labels, arguments.chosen.assume_random, &left_out)?;
    let shown = text::Shown {
        run: &run,
        calibration: &calibration,
        people: &people(&answers, &current),
        pairs: &pairs(&answers, &current),
        left_out: &left_out,
        disagreements: &Disagreement::all(&labels),
        most_disagreements: arguments.disagreements,
        correction: &Correction::of(&calibration, &run, OtherData::Refused),
    };
    session.stored_runs().note_incomplete(stored);
    let path = store.save(&calibration)?;
    if let Some(out) = out {
        CalibrationStore::write(out, &calibration)?;
        session.printer.note_file("wrote", out);
    }
    let text = shown.text(session.printer);
    session.printer.result(&text)?;
    session
        .printer
        .note_file(&format!("kept calibration `{}` in", calibration.id), &path);
    Ok(Exit::Done)
}

fn judged_run(stored: &StoredRun, answers: &RunAnswers) -> Result<JudgedRun> {
    JudgedRun::of(answers, &stored.record).with_context(|| {
        format!(
            "run `{}` has no verdicts of a judge, so there is nothing to calibrate",
            stored.name()
        )
    })
}

/// The file of `--out`. Fails before any work if its name does not end in `.json`.
fn checked_out(path: &Path) -> Result<&Path> {
    if path.extension() != Some(OsStr::new("json")) {
        bail!(
            "`--out {}`: a calibration is JSON; use a name that ends in .json",
            path.display()
        );
    }
    Ok(path)
}
