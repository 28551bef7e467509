//! Lists and deletes the kept calibrations.

use anyhow::Result;
use evals_metrics::{Estimate, NoAgreement};
use evals_pipeline::exit::Exit;
use evals_runs::calibrations::{Calibration, CalibrationStore};
use evals_terminal::Printer;
use evals_terminal::listing::Layout;

const HEADER: [&str; 9] = [
    "calibration",
    "judge",
    "dataset",
    "labellers",
    "labels",
    "kappa",
    "TPR",
    "TNR",
    "run",
];

/// Columns that a narrow terminal drops, the least important first.
const DROPPED_WHEN_NARROW: [&str; 5] = ["run", "judge", "labellers", "dataset", "TPR"];

pub(super) fn list(printer: &Printer, store: &CalibrationStore) -> Result<Exit> {
    let (calibrations, problems) = store.list()?;
    for problem in &problems {
        printer.warn(problem);
    }
    if calibrations.is_empty() {
        printer.note("no calibrations yet; `evaluations labels calibrate RUN` makes one of labels");
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = calibrations.iter().map(row).collect();
    let layout = Layout::of(printer).dropping(&DROPPED_WHEN_NARROW);
    printer.result(&layout.render(&HEADER, &rows))?;
    Ok(Exit::Done)
}

pub(super) fn delete(printer: &Printer, store: &CalibrationStore, wanted: &str) -> Result<Exit> {
    let path = store.delete(wanted)?;
    printer.note_file("deleted", &path);
    Ok(Exit::Done)
}

fn row(calibration: &Calibration) -> Vec<String> {
    let value = |found: Result<Estimate, NoAgreement>| {
        found.map_or_else(|_| "–".to_owned(), |it| format!("{:.4}", it.value))
    };
    let agreement = calibration.agreement();
    vec![
        calibration.id.clone(),
        calibration.judge.name.clone().unwrap_or_default(),
        calibration.data.name.clone(),
        calibration.labellers.join(", "),
        calibration.labels.n().to_string(),
        value(agreement.kappa),
        value(agreement.true_pass_rate),
        value(agreement.true_fail_rate),
        calibration.run.name.clone(),
    ]
}
