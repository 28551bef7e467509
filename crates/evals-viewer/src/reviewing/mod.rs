//! Reviewing: a page on which people decide about one thing after the other: the questions of a test set, or the passages of a pool.

mod pool;
mod set;

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::middleware::map_response;
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use evals_html::view::ReviewingPage;
use evals_questions::review::Review;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(super) use self::pool::GradedPool;
pub(super) use self::set::ReviewedSet;
use super::failure::PageFailure;
use super::reply::{ReplyFailure, as_reply};
use super::viewer::Viewer;

/// What people review, and where their reviews are stored. Replies have the form that the page's script expects.
pub(super) trait Source: Send + Sync + 'static {
    /// A review.
    type Review: DeserializeOwned + Send + 'static;

    /// The page, which holds nothing to review.
    fn page(&self) -> ReviewingPage;

    /// The ids of what to review, in order, each with its last review.
    fn queue(&self, wanted: &WantedSample) -> Result<Vec<Value>, PageFailure>;

    /// One of them, with its texts.
    fn shown(&self, id: &str) -> Result<Value, PageFailure>;

    /// Stores a review, and returns it as it is stored.
    fn store(&self, sent: Sent<Self::Review>) -> Result<(StatusCode, Value), PageFailure>;
}

/// How much to review. Without a seed, a set shows all questions.
#[derive(Debug, Deserialize)]
pub(super) struct WantedSample {
    size: Option<usize>,
    seed: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Wanted {
    id: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sent<R> {
    /// With any time.
    review: R,
    /// The review that the page showed; `None` if it showed none.
    seen: Option<R>,
}

/// The addresses of reviewing.
pub(super) fn pages<S: Source>(source: S) -> Router<Viewer> {
    let replies = Router::new()
        .route("/review/queue", get(queue::<S>))
        .route("/review/question", get(question::<S>))
        .route("/review/reviews", post(add::<S>))
        .layer(map_response(|response| {
            as_reply(response, Review::TOO_LONG)
        }));
    Router::new()
        .route("/review", get(page::<S>))
        .merge(replies)
        .with_state(Arc::new(source))
}

/// Does work on a blocking thread.
async fn with<S: Source, T: Send + 'static>(
    source: Arc<S>,
    work: impl FnOnce(&S) -> Result<T, PageFailure> + Send + 'static,
) -> Result<T, PageFailure> {
    let working = tokio::task::spawn_blocking(move || work(&source));
    working.await.unwrap_or_else(|_| Err(PageFailure::fault()))
}

async fn page<S: Source>(State(source): State<Arc<S>>) -> Result<Html<String>, PageFailure> {
    Ok(Html(source.page().html()?))
}

async fn queue<S: Source>(
    State(source): State<Arc<S>>,
    Query(wanted): Query<WantedSample>,
) -> Result<Json<Vec<Value>>, ReplyFailure> {
    let queue = with(source, move |source| source.queue(&wanted));
    Ok(Json(queue.await?))
}

async fn question<S: Source>(
    State(source): State<Arc<S>>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Value>, ReplyFailure> {
    let shown = with(source, move |source| source.shown(&wanted.id));
    Ok(Json(shown.await?))
}

async fn add<S: Source>(
    State(source): State<Arc<S>>,
    Json(sent): Json<Sent<S::Review>>,
) -> Result<(StatusCode, Json<Value>), ReplyFailure> {
    let (status, reply) = with(source, move |source| source.store(sent)).await?;
    Ok((status, Json(reply)))
}
