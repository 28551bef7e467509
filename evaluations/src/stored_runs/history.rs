//! Histories: the finished runs of one dataset, benchmark and profile that read the same files and asked the same questions.

use anyhow::Result;
use evals::Summary;
use evals_metrics::Percentiles;

use super::choice::is_finished;
use super::configuration::Configuration;
use super::headline::Headline;
use super::predecessor::is_of_kind;
use super::stored_trend::{DrawnRun, StoredTrend};
use super::trend::{Basis, Break};
use crate::run_folder::{RunFolder, RunHeader, RunState};

/// A finished run of the data folder.
#[derive(Debug)]
pub(crate) struct FinishedRun {
    folder: RunFolder,
    pub(crate) header: RunHeader,
    configuration: Configuration,
    headline: Option<Headline>,
    summary: Summary,
}

/// Runs whose measures can be joined to a line, oldest first.
#[derive(Debug)]
pub(crate) struct History<'r> {
    runs: Vec<&'r FinishedRun>,
}

impl FinishedRun {
    /// The run in a folder; `None` unless it is finished. Fails if its report is damaged.
    pub(crate) fn read(folder: RunFolder) -> Result<Option<Self>> {
        let header: RunHeader = folder.read_manifest()?;
        let configuration = Configuration::of(&folder.read_manifest()?);
        let (state, summary) = folder.state_and_summary();
        if state == RunState::Unreadable
            && let Some(problem) = folder.report_problem()
        {
            return Err(problem);
        }
        let Some(summary) = summary.filter(|_| is_finished(state)) else {
            return Ok(None);
        };
        Ok(Some(Self {
            headline: Headline::of(&header, &summary),
            folder,
            header,
            configuration,
            summary,
        }))
    }

    fn basis(&self) -> Basis<'_> {
        Basis {
            questions: self.header.dataset.questions,
            configuration: &self.configuration,
        }
    }

    fn drawn(&self) -> DrawnRun<'_> {
        DrawnRun {
            name: self.folder.name(),
            started: self.header.started.as_deref(),
            basis: self.basis(),
            headline: self.headline.clone(),
            summary: &self.summary,
        }
    }

    /// Whether a line joins the runs.
    fn is_joined_with(&self, other: &Self) -> bool {
        is_of_kind(&self.header, &other.header)
            && Break::between(self.basis(), other.basis()).is_none()
    }
}

impl<'r> History<'r> {
    /// The histories of `runs`, oldest first; those with the newest runs come last.
    pub(crate) fn all(runs: &'r [FinishedRun]) -> Vec<Self> {
        let mut histories: Vec<Self> = Vec::new();
        for run in runs {
            let known = histories
                .iter()
                .position(|history| history.first().is_joined_with(run));
            let mut history = match known {
                Some(place) => histories.remove(place),
                None => Self { runs: Vec::new() },
            };
            history.runs.push(run);
            histories.push(history);
        }
        histories
    }

    fn first(&self) -> &'r FinishedRun {
        self.runs[0]
    }

    /// What the runs have in common.
    pub(crate) fn header(&self) -> &'r RunHeader {
        &self.first().header
    }

    /// Identifies the files of the dataset.
    pub(crate) fn data(&self) -> String {
        self.first().configuration.data_digest()
    }

    /// The latencies of a case over the runs that have them, named as rules of a gate name them. A file of replies has no latency worth
    /// the name.
    pub(crate) fn latencies(&self) -> [(&'static str, Vec<f64>); 2] {
        let of = |pick: fn(&Percentiles) -> Option<f64>| {
            let asked = self.runs.iter().filter(|run| !run.header.is_of_file());
            asked
                .filter_map(|run| pick(&run.summary.task_time))
                .collect()
        };
        [
            ("latency.p50", of(|times| times.p50)),
            ("latency.p95", of(|times| times.p95)),
        ]
    }

    /// The measures over all runs.
    pub(crate) fn trend(&self) -> StoredTrend<'r> {
        let header = self.header();
        let runs = self.runs.iter().map(|run| run.drawn());
        StoredTrend::of_all(
            &header.dataset.name,
            &header.benchmark,
            header.system(),
            runs.collect(),
        )
    }

    /// The measures over the newest runs, as many as a drawing has room for.
    pub(crate) fn drawing(&self) -> StoredTrend<'r> {
        let header = self.header();
        let runs = self.runs.iter().map(|run| run.drawn());
        StoredTrend::of(
            &header.dataset.name,
            &header.benchmark,
            header.system(),
            runs.collect(),
        )
    }
}
