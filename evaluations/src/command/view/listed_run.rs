//! A run as lists show it.

use std::sync::Arc;

use evals::Summary;
use evals_html::view::StateKind;
use evals_metrics::Interval;

use crate::run_folder::{RunFolder, RunHeader, RunState};
use crate::stored_runs::{Configuration, Headline, is_finished};

/// What was read from a run's files.
#[derive(Debug)]
pub(super) struct Contents {
    pub(super) header: RunHeader,
    pub(super) configuration: Configuration,
    /// The state if no process works on the run.
    pub(super) state: RunState,
    /// `None` without a report.
    pub(super) summary: Option<Summary>,
}

/// A run as lists show it.
#[derive(Debug, Clone)]
pub(super) struct ListedRun {
    folder: RunFolder,
    is_running: bool,
    contents: Arc<Contents>,
}

impl ListedRun {
    pub(super) fn new(folder: RunFolder, contents: Arc<Contents>) -> Self {
        Self {
            is_running: folder.is_locked(),
            folder,
            contents,
        }
    }

    pub(super) fn folder(&self) -> &RunFolder {
        &self.folder
    }

    pub(super) fn header(&self) -> &RunHeader {
        &self.contents.header
    }

    pub(super) fn configuration(&self) -> &Configuration {
        &self.contents.configuration
    }

    pub(super) fn state(&self) -> RunState {
        if self.is_running {
            RunState::Running
        } else {
            self.contents.state
        }
    }

    /// The summary of a run that does not go on. A resumed one has the report of an earlier session, which is out of date.
    pub(super) fn summary(&self) -> Option<&Summary> {
        let summary = self.contents.summary.as_ref();
        summary.filter(|_| !self.is_running)
    }

    pub(super) fn headline(&self) -> Option<Headline> {
        Headline::of(self.header(), self.summary()?)
    }

    pub(super) fn is_finished(&self) -> bool {
        is_finished(self.state())
    }

    /// When it started, in UTC, as people read it.
    pub(super) fn started(&self) -> String {
        match &self.header().started {
            Some(started) => {
                let seconds = started.split(['.', 'Z']).next().unwrap_or(started);
                seconds.replace('T', " ")
            }
            None => "unknown start".to_owned(),
        }
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

/// An interval as it is printed.
pub(super) fn printed(interval: &Interval, print: impl Fn(f64) -> String) -> String {
    format!("[{}, {}]", print(interval.low), print(interval.high))
}
