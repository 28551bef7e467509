//! The page of one run: its report, or how far it is.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse as _, Response};
use evals_html::page::{Place, PlaceLink};
use evals_html::view::{Link, LivePage, up};
use evals_pages::page::PageSource;
use evals_pages::shown_report;
use evals_pipeline::indexed_documents;
use evals_runs::calibrations::{CalibrationStore, RunCorrections};
use evals_runs::run_folder::RunFolder;
use evals_runs::stored_runs::StoredRun;
use tokio::runtime::Handle;

use super::catalogue::Catalogue;
use super::failure::PageFailure;
use super::lineage::Lineage;
use super::live;
use super::runs_page::has_answers;
use super::stored_page::{self, PageKey, StoredPage};
use super::viewer::Viewer;

pub(super) async fn show(
    State(viewer): State<Viewer>,
    Path(name): Path<String>,
) -> Result<Response, PageFailure> {
    let found = viewer.read(move |catalogue| found(catalogue, &name));
    match found.await? {
        RunContent::Live(page) => Ok(Html(page.html()?).into_response()),
        RunContent::Stored {
            folder,
            run,
            links,
            key,
            calibrations,
        } => {
            let page = viewer
                .pages()
                .get(key, move || {
                    Ok(report(&folder, &run, links, &calibrations)?)
                })
                .await?;
            stored_page::answer(page)
        }
    }
}

enum RunContent {
    Live(Box<LivePage>),
    Stored {
        folder: RunFolder,
        run: Box<StoredRun>,
        links: Vec<PlaceLink>,
        key: PageKey,
        calibrations: CalibrationStore,
    },
}

fn found(catalogue: &Catalogue, name: &str) -> Result<RunContent, PageFailure> {
    let folder = catalogue.find(name)?;
    let run = StoredRun::of_folder(folder.clone())?;
    if folder.is_locked() || !run.has_report() {
        let page = live::page(folder, &run)?;
        return Ok(RunContent::Live(Box::new(page)));
    }
    let links = links(&catalogue.list()?.runs, name);
    let addresses = links.iter().map(|link| link.address.clone());
    Ok(RunContent::Stored {
        key: PageKey::of(&[&folder])
            .linking(addresses.collect())
            .corrected_by(catalogue.calibrations()),
        calibrations: catalogue.calibrations().clone(),
        links,
        run: Box::new(run),
        folder,
    })
}

/// The links from a run's page to the pages that belong to it.
fn links(runs: &[Arc<StoredRun>], name: &str) -> Vec<PlaceLink> {
    let Some(place) = runs.iter().rposition(|run| run.name() == name) else {
        return Vec::new();
    };
    let label = has_answers(&runs[place]).then(|| PlaceLink {
        title: "Label the answers".to_owned(),
        address: Link::of_run(name, "label").into_text(),
    });
    let before = Lineage::of(runs).predecessor(place);
    let compare = before.map(|before| PlaceLink {
        title: "Compare with the run before".to_owned(),
        address: Link::compare(&runs[before].name(), name).into_text(),
    });
    label.into_iter().chain(compare).collect()
}

/// The page of the report, as `evaluations runs report` writes it into a file, with links to the viewer's pages.
fn report(
    folder: &RunFolder,
    run: &StoredRun,
    links: Vec<PlaceLink>,
    calibrations: &CalibrationStore,
) -> anyhow::Result<StoredPage> {
    let report = run.report()?;
    let documents =
        Handle::current().block_on(indexed_documents::of_report(&report, Some(&run.record)));
    let is_lasting = documents.absence().is_none();
    let (corrections, corrected) = RunCorrections::of_page(calibrations, folder, &report);
    let source = PageSource {
        corrections: corrections.tables(),
        corrected,
        place: Place::Viewer {
            up: up("/run/name"),
            links,
        },
        ..PageSource::of_run(folder, run.record.seed, documents)
    };
    let mut html = Vec::new();
    shown_report(&report).write_page(&source, &mut html)?;
    Ok(StoredPage { html, is_lasting })
}
