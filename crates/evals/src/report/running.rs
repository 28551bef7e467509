//! The report of a run that still goes on.

use std::time::Duration;

use super::titles;
use super::{CaseReport, Report, SchemaVersion};
use crate::Domain;

impl<D: Domain> Report<D> {
    /// The report of a run that has not finished any case. `planned` counts its runs of cases.
    pub fn running(
        name: impl Into<String>,
        dataset: impl Into<String>,
        repeat: u32,
        planned: usize,
    ) -> Self {
        Self {
            schema_version: SchemaVersion,
            name: name.into(),
            dataset: dataset.into(),
            repeat,
            interrupted: false,
            not_run: planned,
            stopped: None,
            duration: Duration::ZERO,
            metadata: serde_json::Map::new(),
            pools_assertions: true,
            cluster: None,
            observer_failures: Vec::new(),
            evaluators: Vec::new(),
            analyses: Vec::new(),
            report_evaluator_failures: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Adds cases that finished since, and counts them off those [not run](Self::not_run). A repetition that the report already holds is
    /// replaced.
    ///
    /// The order of the dataset is not known before the end of the run, so cases are in the order of their ids. Equal sets of cases give
    /// equal reports, in whatever order they finished.
    pub fn add_finished(&mut self, finished: impl IntoIterator<Item = CaseReport<D>>) {
        let planned = self.cases.len() + self.not_run;
        self.cases.extend(finished);
        // Stable, so the last one of a repetition stays the last.
        self.cases
            .sort_by(|one, other| (&one.id, one.repeat).cmp(&(&other.id, other.repeat)));
        self.cases.reverse();
        self.cases
            .dedup_by(|one, other| one.id == other.id && one.repeat == other.repeat);
        self.cases.reverse();
        self.not_run = planned.saturating_sub(self.cases.len());
        titles::settle(&mut self.cases);
    }
}
