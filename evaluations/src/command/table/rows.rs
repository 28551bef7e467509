//! Stored runs as rows of a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::Result;
use evals_metrics::Measure;
use evals_runs::run_folder::RunFolder;
use evals_runs::run_record::{Benchmark, Configuration};
use evals_runs::stored_runs::{Results, StoredRun};
use evals_terminal::Printer;

use super::labels;

/// The runs that a table or a figure shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// `None`: all benchmarks.
    pub(super) benchmark: Option<Benchmark>,
    /// Empty: all datasets.
    pub(super) datasets: Vec<String>,
    /// Empty: all search profiles.
    pub(super) profiles: Vec<String>,
    /// A text that the name of one of a run's models contains, for each; empty: all models.
    pub(super) models: Vec<String>,
    /// Rank measures that the runs get if they lack them. They select no run.
    pub(super) measures: Vec<Measure>,
    /// Runs as users name them; empty: those that the program chooses.
    pub(super) runs: Vec<String>,
}

impl Selection {
    /// The words of a marker that select the same runs.
    pub(super) fn words(&self) -> Vec<String> {
        let benchmark = self.benchmark.map(|it| it.word().to_owned());
        let profiles = self.profiles.iter().map(|it| format!("profile={it}"));
        let models = self.models.iter().map(|it| format!("model={it}"));
        let runs = self.runs.iter().map(|it| format!("run={it}"));
        let words = benchmark.into_iter().chain(self.datasets.iter().cloned());
        words.chain(profiles).chain(models).chain(runs).collect()
    }

    pub(super) fn takes(&self, run: &StoredRun) -> bool {
        let record = &run.record;
        let is_of =
            |chosen: &[String], name: &str| chosen.is_empty() || chosen.iter().any(|it| it == name);
        let models: Vec<String> = record.models.values().map(ToString::to_string).collect();
        let has_model = |wanted: &String| models.iter().any(|model| model.contains(wanted));
        self.benchmark
            .is_none_or(|benchmark| benchmark == record.benchmark)
            && is_of(&self.datasets, &record.dataset.name)
            && (is_of(&self.profiles, &record.profile)
                || is_of(&self.profiles, record.system_name()))
            && (self.models.is_empty() || self.models.iter().any(has_model))
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let benchmark = match self.benchmark {
            None => "any benchmark",
            Some(benchmark) => benchmark.title(),
        };
        if self.datasets.is_empty() {
            write!(formatter, "{benchmark} on any dataset")?;
        } else {
            write!(formatter, "{benchmark} on {}", self.datasets.join(", "))?;
        }
        for (what, names) in [
            ("profile", &self.profiles),
            ("model", &self.models),
            ("the name", &self.runs),
        ] {
            if !names.is_empty() {
                write!(formatter, " with {what} {}", names.join(" or "))?;
            }
        }
        Ok(())
    }
}

/// Reads the runs of `folders`, oldest first. An unreadable run is skipped with a warning.
pub(super) fn read(printer: &Printer, folders: &[RunFolder]) -> Vec<StoredRun> {
    let mut runs = Vec::new();
    for folder in folders {
        match StoredRun::of_folder(folder.clone()) {
            Ok(run) => runs.push(run),
            Err(error) => printer.warn(&format!("cannot read run `{}`: {error:#}", folder.name())),
        }
    }
    runs
}

/// The run with the numbers of its cases, which other commands print too. Until a run is chosen, the summary in its report will do.
pub(super) fn measured(run: StoredRun, measures: &[Measure]) -> Result<StoredRun> {
    let is_ranking = run.record.benchmark == Benchmark::Retrieval;
    let run = run.measuring(if is_ranking { measures } else { &[] });
    let results = Results {
        summary: Some(run.report()?.summary(run.record.seed)),
        ..run.results().clone()
    };
    Ok(run.with_results(results))
}

/// Whether the words of a marker select both runs or neither, except for `run=NAME`.
pub(super) fn have_same_words(one: &StoredRun, other: &StoredRun) -> bool {
    let words = |run: &StoredRun| {
        let models = run.record.models.values().map(ToString::to_string);
        (run.record.profile.clone(), models.collect::<Vec<_>>())
    };
    words(one) == words(other)
}

/// The runs of each dataset and benchmark.
pub(super) fn grouped(runs: &[StoredRun]) -> BTreeMap<(&str, Benchmark), Vec<&StoredRun>> {
    let mut groups: BTreeMap<(&str, Benchmark), Vec<&StoredRun>> = BTreeMap::new();
    for run in runs {
        let key = (run.record.dataset.name.as_str(), run.record.benchmark);
        groups.entry(key).or_default().push(run);
    }
    groups
}

/// The runs that a selection takes.
#[derive(Debug)]
pub(super) struct Selected {
    /// The rows of a table.
    pub(super) rows: Vec<StoredRun>,
    /// Every finished run, oldest first, for trends.
    pub(super) finished: Vec<StoredRun>,
}

/// The finished ones of `runs`, oldest first.
pub(super) fn finished(runs: &[StoredRun]) -> Vec<StoredRun> {
    let finished = runs.iter().filter(|run| run.is_finished());
    let mut finished: Vec<StoredRun> = finished.cloned().collect();
    finished.sort_by_cached_key(|run| (run.started(), run.name()));
    finished
}

/// The runs that become the rows of a table.
#[derive(Debug, Default)]
pub(super) struct Choice {
    pub(super) rows: Vec<StoredRun>,
    /// Names of runs that a reader may expect, and why they are no rows.
    pub(super) skipped: Vec<(String, String)>,
}

impl Choice {
    /// Chooses the newest whole run of each configuration.
    ///
    /// The rows of a table have to be comparable. So the runs of a dataset need the files of its newest run, the largest number of
    /// questions, and the same treatment of unanswerable questions.
    pub(super) fn among(runs: Vec<StoredRun>) -> Self {
        let mut choice = Self::default();
        let mut groups: BTreeMap<(Benchmark, String), Vec<StoredRun>> = BTreeMap::new();
        for run in runs {
            let group = (run.record.benchmark, run.record.dataset.name.clone());
            groups.entry(group).or_default().push(run);
        }
        for group in groups.into_values() {
            let (shards, whole): (Vec<_>, Vec<_>) = group
                .into_iter()
                .partition(|run| run.record.dataset.shard.is_some());
            choice.choose(&whole);
            choice.skipped.extend(shards.into_iter().filter_map(|run| {
                let shard = run.record.dataset.shard.as_ref()?.shard;
                let why = format!("it is {shard}; `evaluations runs merge` joins the shards");
                Some((run.name(), why))
            }));
        }
        choice.sort();
        choice
    }

    /// Takes all of `runs`, because the user named them.
    pub(super) fn all(runs: Vec<StoredRun>) -> Self {
        let mut choice = Self {
            rows: runs,
            skipped: Vec::new(),
        };
        choice.sort();
        choice
    }

    fn sort(&mut self) {
        self.rows
            .sort_by_cached_key(|run| (labels::order(run), run.name()));
    }

    /// Chooses among the runs of one benchmark on one dataset, oldest first.
    fn choose(&mut self, group: &[StoredRun]) {
        let whole = || {
            group
                .iter()
                .filter(|run| run.results().state.has_no_failures())
        };
        let newest = whole().next_back().map(StoredRun::configuration);
        let questions = |run: &StoredRun| run.record.dataset.questions;
        let of_newest =
            |run: &&StoredRun| newest.is_some_and(|newest| newest.has_data_of(run.configuration()));
        let most = whole().filter(of_newest).map(questions).max();
        let leaves_out = |run: &StoredRun| run.record.dataset.unanswerable > 0;
        let mut fullest = whole()
            .filter(of_newest)
            .filter(|run| Some(questions(run)) == most);
        let measured = fullest.next_back().map(leaves_out);
        let why_not = |run: &StoredRun| {
            if !run.results().state.has_no_failures() {
                Some(run.results().state.to_string())
            } else if !of_newest(&run) {
                Some("the files of the dataset have changed since".to_owned())
            } else {
                match most.filter(|most| questions(run) < *most) {
                    Some(most) => Some(format!("it asked {} of {most} questions", questions(run))),
                    None if measured == Some(leaves_out(run)) => None,
                    None if leaves_out(run) => Some(
                        "it leaves out unanswerable questions, which the newest run measures"
                            .to_owned(),
                    ),
                    None => Some(
                        "it measures unanswerable questions, which the newest run leaves out"
                            .to_owned(),
                    ),
                }
            }
        };
        let mut seen: BTreeSet<Configuration> = BTreeSet::new();
        let mut missed = Vec::new();
        for run in group.iter().rev() {
            let configuration = run.configuration().without_data();
            if seen.contains(&configuration) {
                continue;
            }
            if let Some(why) = why_not(run) {
                missed.push((run.name(), why));
            } else {
                seen.insert(configuration);
                self.rows.push(run.clone());
            }
        }
        missed.reverse();
        self.skipped.extend(missed);
    }
}
