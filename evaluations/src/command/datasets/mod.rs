//! `evaluations datasets`: lists the available datasets, downloads or exports one.

mod download;
mod export;

use anyhow::{Context as _, Result};
use evals_data::{Availability, Catalog, Hub, Manifest};
use evals_pipeline::downloads::hub;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_terminal::listing::Layout;
use serde::Serialize;

use crate::cli::{DatasetsArgs, DatasetsCommand};

/// One dataset of the listing.
#[derive(Debug, Serialize)]
struct ListedDataset {
    name: String,
    description: String,
    task: Task,
    /// Calls of models in one run of all questions whose answers a model gives and another judges; unknown without a published size.
    model_calls: Option<u64>,
    documents: Option<u64>,
    questions: Option<u64>,
    licence: Option<String>,
    homepage: Option<String>,
    /// Where its files are now: `bundled`, `cached`, `local` or `hub`.
    place: &'static str,
}

/// What a dataset measures, in the order of the listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Task {
    RetrievalAndAnswers,
    Answers,
    Retrieval,
    Judges,
}

impl Task {
    fn of(manifest: &Manifest) -> Self {
        let columns = &manifest.questions.columns;
        let is_judged = manifest.judgements.is_some() || !columns.relevant.is_empty();
        match (is_judged, columns.answer.is_empty()) {
            _ if manifest.labels.is_some() => Self::Judges,
            (true, false) => Self::RetrievalAndAnswers,
            (true, true) => Self::Retrieval,
            (false, _) => Self::Answers,
        }
    }

    fn shown(self) -> &'static str {
        match self {
            Self::RetrievalAndAnswers => "retrieval, answers",
            Self::Answers => "answers",
            Self::Retrieval => "retrieval",
            Self::Judges => "judges",
        }
    }

    /// The calls of models for each question: an answer and a verdict, or a judge's list of claims and its verdicts.
    fn model_calls(self) -> u64 {
        match self {
            Self::Retrieval => 0,
            Self::RetrievalAndAnswers | Self::Answers | Self::Judges => 2,
        }
    }
}

pub(super) fn execute(session: &Session<'_>, arguments: &DatasetsArgs) -> Result<Exit> {
    match &arguments.command {
        None => list(session, arguments.json),
        Some(DatasetsCommand::Download(download)) => download::execute(session, download),
        Some(DatasetsCommand::Export(export)) => export::execute(session, export),
    }
}

fn list(session: &Session<'_>, is_json: bool) -> Result<Exit> {
    let hub = hub();
    let mut entries = Vec::new();
    for manifest in Catalog::new(session.directories.manifests()).manifests() {
        match manifest {
            Ok(manifest) => entries.push(ListedDataset::of(&manifest, &hub)),
            Err(error) => session
                .printer
                .warn(&format!("{:#}", anyhow::Error::from(error))),
        }
    }
    // Manifests of the user's own stay before the built-in ones of their task.
    entries.sort_by_key(|entry| entry.task);
    let text = if is_json {
        serde_json::to_string_pretty(&entries).context("cannot write the listing")? + "\n"
    } else {
        let header = [
            "name",
            "task",
            "documents",
            "questions",
            "calls",
            "licence",
            "where",
            "description",
        ];
        let rows: Vec<_> = entries.iter().map(ListedDataset::row).collect();
        Layout::of(session.printer)
            .dropping(&["licence", "calls", "documents"])
            .render(&header, &rows)
    };
    session.printer.result(&text)?;
    if !is_json {
        session
            .printer
            .note("\n`calls`: of models, in a run of all questions; `evaluations run NAME --estimate` knows more. Any other BEIR collection: beir:<name>. Your own: evaluations run ./my.yaml; `evaluations init --to mine` writes a small one to start from");
    }
    Ok(Exit::Done)
}

impl ListedDataset {
    fn of(manifest: &Manifest, hub: &Hub) -> Self {
        let task = Task::of(manifest);
        let questions = manifest.size.and_then(|size| size.questions);
        Self {
            name: manifest.name.clone(),
            description: manifest.description.clone(),
            task,
            model_calls: questions.map(|questions| questions * task.model_calls()),
            documents: manifest.size.and_then(|size| size.documents),
            questions,
            licence: manifest.licence.clone(),
            homepage: manifest.homepage.clone(),
            place: place(manifest, hub),
        }
    }

    fn row(&self) -> Vec<String> {
        let count =
            |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
        vec![
            self.name.clone(),
            self.task.shown().to_owned(),
            count(self.documents),
            count(self.questions),
            count(self.model_calls),
            self.licence.clone().unwrap_or_else(|| "?".to_owned()),
            self.place.to_owned(),
            self.description.clone(),
        ]
    }
}

fn place(manifest: &Manifest, hub: &Hub) -> &'static str {
    match manifest.availability(hub) {
        Availability::Bundled => "bundled",
        Availability::Local => "local",
        Availability::Cached => "cached",
        Availability::Remote => "hub",
    }
}
