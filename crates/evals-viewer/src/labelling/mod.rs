//! Labelling: a page on which people decide about the answers of a run before they see what its judge said.
//!
//! Until a label is stored, no reply contains the judge's verdict, nor anything that follows from it, such as the probability of an
//! answer in a stratified sample. Afterwards a reply contains the verdict, or agreement with the judge, only on request, and the
//! file of labels records that it did.

mod agreement;
mod answer;
mod page;
mod queue;
mod runs;
mod store;

use axum::Router;
use axum::middleware::map_response;
use axum::routing::{get, post};
use evals_runs::annotations::LongNote;

use self::runs::LabelledRuns;
use super::reply::as_reply;
use super::viewer::Viewer;

/// The addresses of labelling.
pub(super) fn pages(viewer: Viewer) -> Router<Viewer> {
    let replies = Router::new()
        .route("/run/{name}/label/queue", get(queue::show))
        .route("/run/{name}/label/answer", get(answer::show))
        .route("/run/{name}/label/agreement", post(agreement::show))
        .route("/run/{name}/labels", post(store::add))
        // Of what a request holds, only the note may be that long.
        .layer(map_response(|response| as_reply(response, LongNote)));
    Router::new()
        .route("/run/{name}/label", get(page::show))
        .merge(replies)
        .with_state(LabelledRuns::new(viewer))
}
