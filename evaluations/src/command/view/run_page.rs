//! The page of one run: its report, or how far it is.

use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse as _, Response};
use evals_html::page::Place;
use evals_html::view::LivePage;
use tokio::runtime::Handle;

use super::failure::PageFailure;
use super::live;
use super::stored_page::{self, PageKey, StoredPage};
use super::viewer::Viewer;
use crate::page::PageSource;
use crate::run_folder::RunFolder;
use crate::stored_runs::StoredRun;

pub(super) async fn show(
    State(viewer): State<Viewer>,
    Path(name): Path<String>,
) -> Result<Response, PageFailure> {
    let found = viewer.read(move |catalogue| found(catalogue.find(&name)?));
    match found.await? {
        Found::Live(page) => Ok(Html(page.html()?).into_response()),
        Found::Stored { folder, run, key } => {
            let page = viewer
                .pages()
                .get(key, move || Ok(report(&folder, &run)?))
                .await?;
            stored_page::answer(page)
        }
    }
}

enum Found {
    Live(Box<LivePage>),
    Stored {
        folder: RunFolder,
        run: Box<StoredRun>,
        key: PageKey,
    },
}

fn found(folder: RunFolder) -> Result<Found, PageFailure> {
    let run = StoredRun::of_folder(folder.clone())?;
    if folder.is_locked() || !run.has_report() {
        let page = live::page(folder, &run)?;
        return Ok(Found::Live(Box::new(page)));
    }
    Ok(Found::Stored {
        key: PageKey::of(&[&folder]),
        run: Box::new(run),
        folder,
    })
}

/// The page of the report, as `evaluations report` writes it into a file, with links to the viewer's pages.
fn report(folder: &RunFolder, run: &StoredRun) -> anyhow::Result<StoredPage> {
    let report = run.report()?;
    let manifest = run.manifest()?;
    let documents = Handle::current().block_on(report.documents(manifest.as_ref()));
    let is_lasting = documents.absence().is_none();
    let source = PageSource {
        place: Place::Viewer,
        ..PageSource::of_run(folder, run.header.seed, documents)
    };
    let mut html = Vec::new();
    report.write_page(&source, &mut html)?;
    Ok(StoredPage { html, is_lasting })
}
