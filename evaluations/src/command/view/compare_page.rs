//! The comparison of two runs.

use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use tokio::runtime::Handle;

use super::catalogue::Catalogue;
use super::failure::PageFailure;
use super::stored_page;
use super::viewer::Viewer;
use crate::page::PageSource;
use crate::stored_runs::{StoredPair, StoredRun};

/// The names of the runs.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Wanted {
    before: Option<String>,
    after: Option<String>,
}

pub(super) async fn show(
    State(viewer): State<Viewer>,
    Query(wanted): Query<Wanted>,
) -> Result<Response, PageFailure> {
    let (Some(before), Some(after)) = (wanted.before, wanted.after) else {
        return Err(PageFailure::bad_request(
            "Choose a run before and a run after in the list of runs.",
        ));
    };
    let page = viewer.read(move |catalogue| {
        let [before, after] = [run(catalogue, &before)?, run(catalogue, &after)?];
        Ok(page(&before, &after)?)
    });
    stored_page::answer(page.await?)
}

/// A listed run that does not go on, because the figures of one that does still change.
fn run(catalogue: &Catalogue, name: &str) -> Result<StoredRun, PageFailure> {
    let folder = catalogue.find(name)?;
    if folder.is_locked() {
        return Err(PageFailure::bad_request(format!(
            "Run `{name}` is still running: {}.",
            folder.remedy()
        )));
    }
    Ok(StoredRun::of_folder(folder)?)
}

/// The page, as `evaluations compare` writes it into a file.
fn page(before: &StoredRun, after: &StoredRun) -> anyhow::Result<Vec<u8>> {
    StoredPair::check(before, after)?;
    let pair = StoredPair::read(before, after)?;
    let change = pair.explained(pair.change(&[], &[])?)?;
    let source = PageSource {
        documents: Handle::current().block_on(pair.documents())?,
        ..PageSource::default()
    };
    let mut page = Vec::new();
    pair.write_page(&change, &source, &mut page)?;
    Ok(page)
}
