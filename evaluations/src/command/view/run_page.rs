//! The page of one run: its report, or how far it is.

use axum::extract::{Path, State};
use axum::response::{Html, IntoResponse as _, Response};

use super::failure::PageFailure;
use super::live;
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
    let page = live::page(folder, &run)?;
    Ok(Html(page.html()?).into_response())
}
