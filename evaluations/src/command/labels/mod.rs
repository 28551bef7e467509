//! `evaluations labels`: shows how far people agree with the judge of a run, exchanges labels as CSV, and calibrates the judge.

mod summary;

use std::path::Path;

use anyhow::{Result, bail};
use evals_messages::quantity;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::annotations::{
    CurrentLabels, Export, Import, LEAST_STRATIFIED, Label, LabelFile, Method, RunAnswers, Sample,
    StoredLabels, WantedMeasure, user_name,
};
use evals_runs::atomic_file::write_atomically;
use evals_runs::clock::{now, timestamp};
use evals_runs::filled_table;

use crate::cli::{LabelsArgs, LabelsCommand, LabelsOrCalibrateArgs};
use crate::command::calibrate;

pub(super) fn execute(session: &Session<'_>, arguments: &LabelsOrCalibrateArgs) -> Result<Exit> {
    match (&arguments.command, &arguments.labels) {
        (Some(LabelsCommand::Calibrate(calibrate)), _) => calibrate::execute(session, calibrate),
        (None, Some(labels)) => label(session, labels),
        (None, None) => unreachable!("the parser asks for a run where no command is named"),
    }
}

fn label(session: &Session<'_>, arguments: &LabelsArgs) -> Result<Exit> {
    let runs = session.stored_runs();
    let stored = runs.find(&arguments.run)?;
    let measure = arguments.measure.as_deref();
    let measure = measure.map_or(WantedMeasure::Only, WantedMeasure::Named);
    let run = RunAnswers::read(&stored, measure)?;
    let file = LabelFile::of(stored.folder("keeps the labels")?);
    if let Some(path) = &arguments.export {
        return export(session, arguments, &run, &file, path);
    }
    runs.note_incomplete(&stored);
    let labels = match &arguments.import {
        Some(path) => import(session, arguments, &run, &file, path)?,
        None => file.read()?,
    };
    let current = CurrentLabels::of(&run, &labels);
    let text = summary::text(session.printer, &run, &current);
    session.printer.result(&text)?;
    Ok(Exit::Done)
}

fn export(
    session: &Session<'_>,
    arguments: &LabelsArgs,
    run: &RunAnswers,
    file: &LabelFile,
    path: &Path,
) -> Result<Exit> {
    filled_table::check_new(path, "labelled")?;
    let sample = sample(arguments, run)?;
    let labels = file.read()?;
    let current = CurrentLabels::of(run, &labels);
    let export = Export {
        run,
        current: &current,
        sample,
        with_labels: arguments.with_labels,
        with_verdicts: arguments.with_verdicts,
    };
    let mut rows = 0;
    write_atomically(path, |out| {
        rows = export.write(out)?;
        Ok(())
    })?;
    let printer = session.printer;
    printer.note(&format!(
        "wrote {} to `{}`; fill in the column `verdict` with `pass`, `fail` or `cannot say`, and import the file",
        quantity::of(rows, "row"),
        path.display()
    ));
    if arguments.with_verdicts {
        printer.warn("the file contains what the judge said, so labels from it are not blind");
    }
    Ok(Exit::Done)
}

/// The answers that the options ask for.
fn sample(arguments: &LabelsArgs, run: &RunAnswers) -> Result<Sample> {
    let size = arguments.sample.map(Into::into);
    if arguments.stratified && run.answers.iter().all(|answer| answer.verdict.is_none()) {
        bail!(
            "`--stratified` draws answers by the judge's verdict, and run `{}` has no judge or the judge gave no verdict; leave the option out",
            run.run
        );
    }
    if arguments.stratified && size.is_some_and(|size| size < LEAST_STRATIFIED) {
        bail!(
            "`--sample 1` with `--stratified` is too small, because the sample has passed and failed answers; choose at least {LEAST_STRATIFIED}, or leave `--stratified` out"
        );
    }
    Ok(Sample {
        method: if arguments.stratified {
            Method::Stratified
        } else {
            Method::Random
        },
        size,
        seed: arguments.seed,
    })
}

fn import(
    session: &Session<'_>,
    arguments: &LabelsArgs,
    run: &RunAnswers,
    file: &LabelFile,
    path: &Path,
) -> Result<StoredLabels> {
    let bytes = filled_table::read(path)?;
    let given = arguments.labeller.as_deref().map(str::trim);
    if given == Some("") {
        bail!("`--labeller` is empty; give a name");
    }
    let import = Import {
        run,
        file: path.display().to_string(),
        labeller: given.map(str::to_owned).or_else(user_name),
        time: timestamp(now()),
    };
    let imported = import.read(&bytes)?;
    let (given, empty) = (imported.given(), imported.empty);
    if given == 0 {
        bail!(
            "no row of `{}` has a verdict; fill in the column `verdict`",
            path.display()
        );
    }
    let (mut added, mut replacing) = (0, 0);
    let labels = file.add(|known| {
        let new = imported.new_labels(known);
        let replaces = |label: &&Label| known.iter().any(|it| label.replaces(it));
        (added, replacing) = (new.len(), new.iter().filter(replaces).count());
        Ok(new)
    })?;
    let replacing = match replacing {
        0 => String::new(),
        n => format!(", {n} of which in place of an earlier label"),
    };
    session.printer.note(&format!(
        "added {}{replacing}; {} already known, {empty} without a verdict",
        quantity::of(added, "label"),
        given - added
    ));
    Ok(labels)
}
