//! The corrections of a stored run by the stored calibrations that fit it.

use std::collections::BTreeSet;

use anyhow::Result;
use evals::Report;
use evals::render::tables::Table;
use evals_guard::panics;

use super::calibration::Calibration;
use super::correction::{Correction, OtherData};
use super::judged_run::JudgedRun;
use super::store::CalibrationStore;
use crate::Notes;
use crate::annotations::{Answers, RunAnswers, WantedMeasure};
use crate::run_folder::RunFolder;
use crate::stored_runs::{StoredReport, StoredRun};

/// What the stored calibrations say about a run.
#[derive(Debug, Default)]
pub struct RunCorrections {
    /// The correction of each measure by the best calibration of its judge.
    pub corrections: Vec<Correction>,
    /// Why a calibration of the same measure and dataset does not fit, where none does.
    pub refusals: Vec<String>,
}

impl RunCorrections {
    /// Corrects the measures of a run by the stored calibrations of their judges. A calibration by labels of this run is best, then
    /// the one with most labels. Warns of calibrations that cannot be read, because the report of a run does not depend on them.
    pub fn of<D: Answers>(
        notes: &dyn Notes,
        store: &CalibrationStore,
        folder: &RunFolder,
        report: &Report<D>,
    ) -> Self {
        let (found, problems) = Self::read(store, folder, report);
        for problem in problems {
            notes.warn(&problem);
        }
        found
    }

    /// The same, with what to warn of.
    fn read<D: Answers>(
        store: &CalibrationStore,
        folder: &RunFolder,
        report: &Report<D>,
    ) -> (Self, Vec<String>) {
        // A fault of this feature costs its own numbers, and never the report.
        let listed = panics::caught(|| -> Result<_> {
            let (calibrations, problems) = store.list()?;
            Ok((Self::by(&calibrations, folder, report)?, problems))
        });
        listed
            .unwrap_or_else(|fault| Err(fault.into()))
            .unwrap_or_else(|error| {
                let problem = format!("no pass rate is corrected: {error:#}");
                (Self::default(), vec![problem])
            })
    }

    /// The corrections of a stored report for a page, and the lines that the page notes: corrected rates, why calibrations do not fit, and
    /// which cannot be read.
    pub fn of_page(
        store: &CalibrationStore,
        folder: &RunFolder,
        report: &StoredReport,
    ) -> (Self, Vec<String>) {
        let (found, problems) = match report {
            StoredReport::Retrieval(_) => return Default::default(),
            StoredReport::Qa(report) => Self::read(store, folder, report),
            StoredReport::Eval(report) => Self::read(store, folder, report),
        };
        let mut lines = found.in_lines();
        lines.extend(found.refusals.iter().cloned());
        lines.extend(problems);
        (found, lines)
    }

    /// The same for a stored report. Retrieval has no judge.
    pub fn of_stored(
        notes: &dyn Notes,
        store: &CalibrationStore,
        run: &StoredRun,
        report: &StoredReport,
    ) -> Self {
        // A report without its manifest does not say which data it is about.
        let Ok(folder) = run.folder("names the data") else {
            return Self::default();
        };
        match report {
            StoredReport::Retrieval(_) => Self::default(),
            StoredReport::Qa(report) => Self::of(notes, store, folder, report),
            StoredReport::Eval(report) => Self::of(notes, store, folder, report),
        }
    }

    /// The corrected rates of a run in a line each. Reads its report only if there are calibrations.
    pub fn lines(notes: &dyn Notes, store: &CalibrationStore, run: &StoredRun) -> Vec<String> {
        if store.is_empty() {
            return Vec::new();
        }
        // Whoever asks has read the report.
        let Ok(report) = run.report() else {
            return Vec::new();
        };
        let found = Self::of_stored(notes, store, run, &report);
        let mut lines = found.in_lines();
        lines.extend(found.refusals);
        lines
    }

    /// The corrected rates in a line each.
    pub fn in_lines(&self) -> Vec<String> {
        self.corrections.iter().map(Correction::line).collect()
    }

    /// The corrected rates as tables.
    pub fn tables(&self) -> Vec<Table> {
        self.corrections.iter().map(Correction::table).collect()
    }

    /// Prints why calibrations do not fit, where none does.
    pub fn note(&self, notes: &dyn Notes) {
        for refusal in &self.refusals {
            notes.note(refusal);
        }
    }

    fn by<D: Answers>(
        calibrations: &[Calibration],
        folder: &RunFolder,
        report: &Report<D>,
    ) -> Result<Self> {
        let mut found = Self::default();
        if calibrations.is_empty() {
            return Ok(found);
        }
        let record = folder.read_record()?;
        let measures: BTreeSet<&str> = calibrations
            .iter()
            .map(|calibration| calibration.judge.measure.as_str())
            .collect();
        for measure in measures {
            let wanted = WantedMeasure::Named(measure);
            // Most calibrations are of other runs, with measures that this one may lack.
            let Ok(answers) = RunAnswers::of(folder, report, &record, wanted) else {
                continue;
            };
            if let Some(run) = JudgedRun::of(&answers, &record) {
                found.add(&run, calibrations);
            }
        }
        Ok(found)
    }

    fn add(&mut self, run: &JudgedRun, calibrations: &[Calibration]) {
        let found = Calibration::best(calibrations, run).and_then(|best| {
            Correction::of(best, run, OtherData::Refused).map_err(|reason| {
                let id = &best.id;
                Some(format!("calibration `{id}` does not apply: {reason}"))
            })
        });
        match found {
            Ok(correction) => self.corrections.push(correction),
            Err(Some(reason)) => {
                let measure = &run.judge.measure;
                self.refusals
                    .push(format!("`{measure}` is not corrected: {reason}"));
            }
            Err(None) => {}
        }
    }
}
