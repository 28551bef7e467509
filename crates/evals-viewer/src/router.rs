//! The addresses of the pages, and their style sheets and scripts.

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::from_fn;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use evals_html::view::Asset;

use super::failure::{PageFailure, as_page};
use super::viewer::Viewer;
use super::{changes, compare_page, labelling, live, run_page, runs_page, trend_page};

/// The largest body of a request, in bytes: more than a label or a review with the longest texts.
const LARGEST_BODY: usize = 256 << 10;

/// Every page, at its address without the token. The guard stands in front of them. `reviewing` has the pages of what is reviewed, if anything is.
pub(super) fn pages(viewer: Viewer, reviewing: Router<Viewer>) -> Router {
    Router::new()
        .route("/", get(runs_page::show))
        .route("/changes", get(changes::follow))
        .route("/compare", get(compare_page::show))
        .route("/trend", get(trend_page::show))
        .route("/run/{name}", get(run_page::show))
        .route("/run/{name}/progress", get(live::follow))
        .route("/assets/{name}", get(asset))
        .merge(labelling::pages(viewer.clone()))
        .merge(reviewing)
        .fallback(async || PageFailure::no_page())
        .layer(from_fn(as_page))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .with_state(viewer)
}

/// One file. Only the names of a fixed list exist.
async fn asset(Path(name): Path<String>) -> Result<Response, PageFailure> {
    let Asset { media_type, text } = Asset::named(&name).ok_or_else(PageFailure::no_page)?;
    Ok(([(CONTENT_TYPE, media_type)], text).into_response())
}
