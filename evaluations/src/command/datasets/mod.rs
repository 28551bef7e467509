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
    documents: Option<u64>,
    questions: Option<u64>,
    licence: Option<String>,
    homepage: Option<String>,
    /// Where its files are now: `bundled`, `cached`, `local` or `hub`.
    place: &'static str,
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
    let text = if is_json {
        serde_json::to_string_pretty(&entries).context("cannot write the listing")? + "\n"
    } else {
        let header = [
            "name",
            "documents",
            "questions",
            "licence",
            "where",
            "description",
        ];
        let rows: Vec<_> = entries.iter().map(ListedDataset::row).collect();
        Layout::of(session.printer)
            .dropping(&["licence", "documents"])
            .render(&header, &rows)
    };
    session.printer.result(&text)?;
    if !is_json {
        session
            .printer
            .note("\nAny other BEIR collection: beir:<name>. Your own: evaluations run ./my.yaml; `evaluations init --to mine` writes a small one to start from");
    }
    Ok(Exit::Done)
}

impl ListedDataset {
    fn of(manifest: &Manifest, hub: &Hub) -> Self {
        Self {
            name: manifest.name.clone(),
            description: manifest.description.clone(),
            documents: manifest.size.and_then(|size| size.documents),
            questions: manifest.size.and_then(|size| size.questions),
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
            count(self.documents),
            count(self.questions),
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
