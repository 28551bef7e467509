//! A run as lists show it.

use std::sync::Arc;

use evals::Summary;
use evals_html::view::StateKind;
use evals_metrics::Interval;

use crate::run_folder::{RunFolder, RunHeader, RunState};
use crate::stored_runs::{Configuration, Headline, TrendRun, is_finished};

/// What was read from a run's files.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) header: RunHeader,
    pub(super) configuration: Configuration,
    pub(super) state: RunState,
    /// Why the report cannot be read, if it cannot.
    pub(super) problem: Option<String>,
    /// `None` without a report, and while the run is running.
    pub(super) summary: Option<Summary>,
}

/// A run as lists show it.
#[derive(Debug, Clone)]
pub(super) struct ListedRun {
    folder: RunFolder,
    contents: Arc<Contents>,
}

impl ListedRun {
    pub(super) fn new(folder: RunFolder, contents: Arc<Contents>) -> Self {
        Self { folder, contents }
    }

    pub(super) fn folder(&self) -> &RunFolder {
        &self.folder
    }

    pub(super) fn state(&self) -> RunState {
        self.contents.state
    }

    /// The summary of the report, unless the run is running.
    pub(super) fn summary(&self) -> Option<&Summary> {
        self.contents.summary.as_ref()
    }

    /// Whether it has a report with answers, which people can label.
    pub(super) fn has_answers(&self) -> bool {
        self.summary().is_some() && self.header().benchmark != "retrieval"
    }

    /// When it started, in UTC, as people read it.
    pub(super) fn started(&self) -> String {
        started(self.header().started.as_deref())
    }

    pub(super) fn state_kind(&self) -> StateKind {
        let state = self.state();
        match state {
            RunState::Running => StateKind::Running,
            RunState::Unfinished(_) => StateKind::Unfinished,
            RunState::Failed(_) | RunState::Unreadable => StateKind::Failed,
            RunState::Finished(_) if state.has_no_failures() => StateKind::Finished,
            RunState::Finished(_) => StateKind::Partial,
        }
    }
}

impl TrendRun for ListedRun {
    fn header(&self) -> &RunHeader {
        &self.contents.header
    }

    fn configuration(&self) -> &Configuration {
        &self.contents.configuration
    }

    fn is_finished(&self) -> bool {
        is_finished(self.state())
    }

    fn headline(&self) -> Option<Headline> {
        Headline::of(self.header(), self.summary()?)
    }
}

/// The time of a manifest as people read it: `2026-05-01 12:00:00`.
pub(super) fn started(time: Option<&str>) -> String {
    let Some(time) = time else {
        return "unknown start".to_owned();
    };
    let seconds = time.split(['.', 'Z']).next().unwrap_or(time);
    seconds.replace('T', " ")
}

/// A formatted interval.
pub(super) fn printed(interval: &Interval, print: impl Fn(f64) -> String) -> String {
    format!("[{}, {}]", print(interval.low), print(interval.high))
}
