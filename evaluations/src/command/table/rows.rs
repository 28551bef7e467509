//! Stored runs as rows of a table.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Context as _, Result};
use evals::Summary;
use evals_messages::quantity;
use evals_targets::TargetIdentity;
use serde::Deserialize;
use serde_json::Value;

use crate::question_answering::ModelSet;
use crate::run_folder::{RunFolder, RunState, system};
use crate::shards::ShardHeader;
use crate::stored_runs::{self, Configuration, is_finished};
use crate::terminal::Printer;

/// The benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Benchmark {
    /// Rankings against judgements.
    Retrieval,
    /// Answers against references.
    Qa,
    /// The cases of a dataset file.
    Eval,
}

impl Benchmark {
    /// The word of a marker.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Retrieval => "retrieval",
            Self::Qa => "qa",
            Self::Eval => "eval",
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Retrieval => "retrieval",
            Self::Qa => "question answering",
            Self::Eval => "dataset file",
        }
    }
}

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
        let manifest = &run.manifest;
        let is_of =
            |chosen: &[String], name: &str| chosen.is_empty() || chosen.iter().any(|it| it == name);
        let models: Vec<String> = manifest.models.values().map(Model::to_string).collect();
        let has_model = |wanted: &String| models.iter().any(|model| model.contains(wanted));
        self.benchmark
            .is_none_or(|benchmark| benchmark == manifest.benchmark)
            && is_of(&self.datasets, &manifest.dataset.name)
            && (is_of(&self.profiles, &manifest.profile)
                || is_of(&self.profiles, manifest.system()))
            && (self.models.is_empty() || self.models.iter().any(has_model))
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let benchmark = match self.benchmark {
            None => "any benchmark",
            Some(benchmark) => benchmark.name(),
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

/// A run that may become a row.
#[derive(Debug, Clone)]
pub(super) struct StoredRun {
    pub(super) name: String,
    pub(super) folder: RunFolder,
    pub(super) manifest: Manifest,
    pub(super) configuration: Configuration,
    pub(super) state: RunState,
    pub(super) summary: Option<Summary>,
}

/// The part of a run's manifest that tables show.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Manifest {
    pub(super) benchmark: Benchmark,
    pub(super) profile: String,
    pub(super) dataset: Dataset,
    pub(super) models: BTreeMap<String, Model>,
    #[serde(default)]
    pub(super) filter: Option<String>,
    /// 0 for a dataset file, which ranks nothing.
    #[serde(default)]
    pub(super) k: usize,
    settings: Settings,
    /// The whole manifest.
    #[serde(skip)]
    rest: Value,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Dataset {
    pub(super) name: String,
    pub(super) questions: usize,
    shard: Option<ShardHeader>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Model {
    provider: String,
    name: String,
}

impl fmt::Display for Model {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.provider, self.name)
    }
}

#[derive(Debug, Clone, Deserialize)]
struct Settings {
    #[serde(default)]
    processing: Processing,
}

#[derive(Debug, Clone, Default, Deserialize)]
struct Processing {
    chunk_size: Option<usize>,
}

impl Manifest {
    /// A model's name, or a dash if the run had no model in that role.
    pub(super) fn model(&self, role: &str) -> String {
        let Some(model) = self.models.get(role) else {
            return "–".to_owned();
        };
        // The number format of a local model changes its results.
        let path = match role {
            "embedder" => "/settings/embeddings/model/dtype",
            "reranker" => "/settings/reranking/model/dtype",
            _ => return model.to_string(),
        };
        match self.rest.pointer(path).and_then(Value::as_str) {
            Some(dtype) => format!("{model} ({dtype})"),
            None => model.to_string(),
        }
    }

    /// The judges, with the votes of each where one is asked several times; a dash without a judge.
    pub(super) fn judges(&self) -> String {
        let judges = ModelSet::JUDGES.into_iter();
        let judges = judges.filter_map(|role| self.models.get(role));
        let judges: Vec<String> = judges.map(ToString::to_string).collect();
        if judges.is_empty() {
            return "–".to_owned();
        }
        let names = judges.join(" + ");
        let repeats = self.rest.pointer("/settings/evaluations/panel/repeats");
        match repeats.and_then(Value::as_u64) {
            Some(repeats) if repeats > 1 => format!("{names}, {repeats} votes each"),
            Some(_) | None => names,
        }
    }

    /// The system under test as users name it, with its version; a dash for our own pipeline.
    pub(super) fn target(&self) -> String {
        let target = self.rest.get("target");
        let target = target.and_then(|target| TargetIdentity::deserialize(target).ok());
        target.map_or_else(|| "–".to_owned(), |target| target.to_string())
    }

    /// The profile without the version of a target, which a trend joins.
    pub(super) fn system(&self) -> &str {
        let version = self.rest.pointer("/target/version");
        system(&self.profile, version.and_then(Value::as_str))
    }

    /// Whether somebody else's system was tested.
    pub(super) fn is_target(&self) -> bool {
        self.rest.get("target").is_some()
    }

    /// The size of chunks, as printed.
    pub(super) fn chunks(&self) -> String {
        // A target has chunks of its own, if any.
        if self.is_target() {
            return "–".to_owned();
        }
        match self.settings.processing.chunk_size {
            Some(size) => quantity::of(size, "token"),
            None => "whole documents".to_owned(),
        }
    }

    /// The sort key of a table's rows.
    fn order(&self) -> impl Ord + use<> {
        (
            self.benchmark,
            self.dataset.name.clone(),
            self.model("embedder"),
            self.chunks(),
            self.profile.clone(),
            self.model("answerer"),
            self.judges(),
            self.model("reranker"),
            self.target(),
        )
    }
}

/// Reads the runs of `folders`, oldest first. An unreadable run is skipped with a warning.
pub(super) fn read(printer: &Printer, folders: &[RunFolder]) -> Vec<StoredRun> {
    let mut runs = Vec::new();
    for folder in folders {
        match read_one(folder) {
            Ok(run) => runs.push(run),
            Err(error) => printer.warn(&format!("{error:#}")),
        }
    }
    runs
}

pub(super) fn read_one(folder: &RunFolder) -> Result<StoredRun> {
    let unreadable = || format!("cannot read run `{}`", folder.name());
    let rest: Value = folder.read_manifest().with_context(unreadable)?;
    let mut manifest: Manifest = serde_json::from_value(rest.clone()).with_context(unreadable)?;
    let configuration = Configuration::of(&rest);
    manifest.rest = rest;
    let (state, summary) = folder.state_and_summary();
    Ok(StoredRun {
        name: folder.name(),
        folder: folder.clone(),
        manifest,
        configuration,
        state,
        summary,
    })
}

impl StoredRun {
    /// The same with the numbers of its cases, which other commands print too. Until a run is chosen, the summary in its report will do.
    pub(super) fn measured(self) -> Result<Self> {
        let run = stored_runs::StoredRun::of_folder(self.folder.clone())?;
        let summary = run.report()?.summary(run.header.seed);
        Ok(Self {
            summary: Some(summary),
            ..self
        })
    }

    /// When the run started, as its manifest says.
    pub(super) fn started_at(&self) -> Option<&str> {
        self.manifest.rest["started"].as_str()
    }

    /// When the run started, as tables show it.
    pub(super) fn started(&self) -> String {
        let started = self.started_at().unwrap_or("unknown");
        let (seconds, _) = started.split_once('.').unwrap_or((started, ""));
        seconds.replace('T', " ")
    }

    /// Whether the words of a marker select both runs or neither, except for `run=NAME`.
    pub(super) fn has_words_of(&self, other: &Self) -> bool {
        let words = |run: &Self| {
            let models = run.manifest.models.values().map(Model::to_string);
            (run.manifest.profile.clone(), models.collect::<Vec<_>>())
        };
        words(self) == words(other)
    }

    fn group(&self) -> (Benchmark, &str) {
        (self.manifest.benchmark, &self.manifest.dataset.name)
    }
}

/// The runs of each dataset and benchmark.
pub(super) fn grouped(runs: &[StoredRun]) -> BTreeMap<(&str, Benchmark), Vec<&StoredRun>> {
    let mut groups: BTreeMap<(&str, Benchmark), Vec<&StoredRun>> = BTreeMap::new();
    for run in runs {
        let key = (run.manifest.dataset.name.as_str(), run.manifest.benchmark);
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
    let finished = runs.iter().filter(|run| is_finished(run.state));
    let mut finished: Vec<StoredRun> = finished.cloned().collect();
    finished.sort_by_cached_key(|run| (run.started(), run.name.clone()));
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
            let (benchmark, dataset) = run.group();
            let group = (benchmark, dataset.to_owned());
            groups.entry(group).or_default().push(run);
        }
        for group in groups.into_values() {
            let (shards, whole): (Vec<_>, Vec<_>) = group
                .into_iter()
                .partition(|run| run.manifest.dataset.shard.is_some());
            choice.choose(&whole);
            choice.skipped.extend(shards.into_iter().filter_map(|run| {
                let shard = run.manifest.dataset.shard?;
                let why = format!("it is {shard}; `evaluations runs merge` joins the shards");
                Some((run.name, why))
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
            .sort_by_cached_key(|run| (run.manifest.order(), run.name.clone()));
    }

    /// Chooses among the runs of one benchmark on one dataset, oldest first.
    fn choose(&mut self, group: &[StoredRun]) {
        let whole = || group.iter().filter(|run| run.state.has_no_failures());
        let newest = whole().next_back().map(|run| &run.configuration);
        let questions = |run: &StoredRun| run.manifest.dataset.questions;
        let of_newest =
            |run: &&StoredRun| newest.is_some_and(|newest| newest.has_data_of(&run.configuration));
        let most = whole().filter(of_newest).map(questions).max();
        let leaves_out = |run: &StoredRun| run.configuration.leaves_out_unanswerable();
        let mut fullest = whole()
            .filter(of_newest)
            .filter(|run| Some(questions(run)) == most);
        let measured = fullest.next_back().map(leaves_out);
        let why_not = |run: &StoredRun| {
            if !run.state.has_no_failures() {
                Some(run.state.to_string())
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
            let configuration = run.configuration.without_data();
            if seen.contains(&configuration) {
                continue;
            }
            if let Some(why) = why_not(run) {
                missed.push((run.name.clone(), why));
            } else {
                seen.insert(configuration);
                self.rows.push(run.clone());
            }
        }
        missed.reverse();
        self.skipped.extend(missed);
    }
}
