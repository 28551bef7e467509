//! Stored runs as rows of a table.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use anyhow::{Context as _, Result};
use evals::Summary;
use serde::Deserialize;
use serde_json::Value;

use crate::command::configuration::Configuration;
use crate::printer::Printer;
use crate::run_folder::{RunFolder, RunState};

/// The two benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Benchmark {
    /// Rankings against judgements.
    Retrieval,
    /// Answers against references.
    Qa,
}

impl Benchmark {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Retrieval => "retrieval",
            Self::Qa => "question answering",
        }
    }
}

/// Which runs a table shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selection {
    /// `None`: both benchmarks.
    pub(super) benchmark: Option<Benchmark>,
    /// Empty: all datasets.
    pub(super) datasets: Vec<String>,
}

impl Selection {
    pub(super) fn takes(&self, run: &StoredRun) -> bool {
        let dataset = &run.manifest.dataset.name;
        self.benchmark
            .is_none_or(|benchmark| benchmark == run.manifest.benchmark)
            && (self.datasets.is_empty() || self.datasets.contains(dataset))
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let benchmark = match self.benchmark {
            None => "any benchmark",
            Some(benchmark) => benchmark.name(),
        };
        if self.datasets.is_empty() {
            write!(formatter, "{benchmark} on any dataset")
        } else {
            write!(formatter, "{benchmark} on {}", self.datasets.join(", "))
        }
    }
}

/// A finished run.
#[derive(Debug, Clone)]
pub(super) struct StoredRun {
    pub(super) manifest: Manifest,
    pub(super) configuration: Configuration,
    pub(super) summary: Summary,
}

/// The part of a run's manifest that tables show.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Manifest {
    pub(super) benchmark: Benchmark,
    pub(super) profile: String,
    pub(super) dataset: Dataset,
    pub(super) models: BTreeMap<String, Model>,
    pub(super) filter: Option<String>,
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
    processing: Processing,
}

#[derive(Debug, Clone, Deserialize)]
struct Processing {
    chunk_size: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Report {
    summary: Summary,
}

impl Manifest {
    /// A model's name, or a dash where the run had none of that role.
    pub(super) fn model(&self, role: &str) -> String {
        let Some(model) = self.models.get(role) else {
            return "–".to_owned();
        };
        // The numbers that a local model computes in change what it finds.
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

    /// The size of chunks for people.
    pub(super) fn chunks(&self) -> String {
        match self.settings.processing.chunk_size {
            Some(size) => format!("{size} tokens"),
            None => "whole documents".to_owned(),
        }
    }

    /// The order of a table's rows.
    fn order(&self) -> impl Ord + use<> {
        (
            self.benchmark,
            self.dataset.name.clone(),
            self.model("embedder"),
            self.chunks(),
            self.profile.clone(),
            self.model("answerer"),
            self.model("judge"),
            self.model("reranker"),
        )
    }
}

/// Every finished run of `folders`, oldest first. One that cannot be read is skipped with a warning.
pub(super) fn read(printer: &Printer, folders: &[RunFolder]) -> Vec<StoredRun> {
    let mut runs = Vec::new();
    for folder in folders {
        if folder.state() != RunState::Finished {
            continue;
        }
        match read_one(folder) {
            Ok(run) => runs.push(run),
            Err(error) => printer.warn(&format!("{error:#}")),
        }
    }
    runs
}

fn read_one(folder: &RunFolder) -> Result<StoredRun> {
    let rest: Value = folder.read_manifest()?;
    let mut manifest: Manifest = serde_json::from_value(rest.clone())
        .with_context(|| format!("run `{}` is left out", folder.name()))?;
    let configuration = Configuration::of(&rest);
    manifest.rest = rest;
    let report: Report = folder
        .read_report()
        .with_context(|| format!("run `{}` is left out", folder.name()))?;
    Ok(StoredRun {
        manifest,
        configuration,
        summary: report.summary,
    })
}

/// One run of each configuration, in the order of the configurations: the one with the most questions, and of those the
/// newest.
pub(super) fn representatives(runs: Vec<StoredRun>) -> Vec<StoredRun> {
    let mut chosen: BTreeMap<Configuration, StoredRun> = BTreeMap::new();
    for run in runs {
        match chosen.entry(run.configuration.clone()) {
            Entry::Vacant(vacant) => {
                vacant.insert(run);
            }
            Entry::Occupied(mut held) => {
                if run.manifest.dataset.questions >= held.get().manifest.dataset.questions {
                    held.insert(run);
                }
            }
        }
    }
    let mut chosen: Vec<StoredRun> = chosen.into_values().collect();
    chosen.sort_by_key(|run| run.manifest.order());
    chosen
}
