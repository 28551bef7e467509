//! The page of one run: its report, or how far it is.

use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse as _, Response};
use tokio::runtime::Handle;

use super::failure::PageFailure;
use super::live;
use super::stored_page;
use super::viewer::Viewer;
use crate::run_folder::RunFolder;
use crate::stored_runs::StoredRun;

pub(super) async fn show(
    State(viewer): State<Viewer>,
    Path(name): Path<String>,
) -> Result<Response, PageFailure> {
    viewer
        .read(move |catalogue| page(catalogue.find(&name)?))
        .await
}

fn page(folder: RunFolder) -> Result<Response, PageFailure> {
    let run = StoredRun::of_folder(folder.clone())?;
    if folder.is_locked() || !run.has_report() {
        let page = live::page(folder, &run)?;
        return Ok(Html(page.html()?).into_response());
    }
    stored_page::answer(report(&folder, &run)?)
}

/// The page of the report, as `evaluations report` writes it into a file.
fn report(folder: &RunFolder, run: &StoredRun) -> anyhow::Result<Vec<u8>> {
    let report = run.report()?;
    let manifest = run.manifest()?;
    let documents = Handle::current().block_on(report.documents(manifest.as_ref()));
    let source = folder.page_source(run.header.seed, documents);
    let mut page = Vec::new();
    report.write_page(&source, &mut page)?;
    Ok(page)
}
