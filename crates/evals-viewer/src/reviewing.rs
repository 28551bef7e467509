//! Reviewing: a page on which people keep, edit or drop the questions of a test set, beside the evidence in its documents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::middleware::map_response;
use axum::response::Html;
use axum::routing::{get, post};
use axum::{Json, Router};
use evals_html::view::ReviewingPage;
use evals_pipeline::downloads;
use evals_pipeline::session::Session;
use evals_questions::review::{Review, ShownDocument, current, sample};
use evals_questions::{Item, SetError, SetFolder};
use evals_runs::annotations::{checked_labeller, user_name};
use evals_runs::clock::{now, timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use super::failure::PageFailure;
use super::reply::{ReplyFailure, as_reply};
use super::viewer::Viewer;

/// How many questions a sample has unless somebody chooses another number.
const USUAL_SAMPLE: usize = 50;
/// A test set with its documents.
#[derive(Debug)]
pub(super) struct ReviewedSet {
    folder: SetFolder,
    items: Vec<Item>,
    /// The texts of the documents that the questions name, by id.
    texts: BTreeMap<String, String>,
    /// The lock of the folder keeps other processes out, and this one two requests apart.
    writing: Mutex<()>,
}

/// The addresses of reviewing.
pub(super) fn pages(set: ReviewedSet) -> Router<Viewer> {
    let replies = Router::new()
        .route("/review/queue", get(queue))
        .route("/review/question", get(question))
        .route("/review/reviews", post(add))
        .layer(map_response(|response| {
            as_reply(response, Review::TOO_LONG)
        }));
    Router::new()
        .route("/review", get(page))
        .merge(replies)
        .with_state(Arc::new(set))
}

impl ReviewedSet {
    /// Reads the questions, and the documents that they name.
    pub(super) async fn open(session: &Session<'_>, folder: SetFolder) -> Result<Self> {
        let items = folder.questions()?;
        folder.reviews()?;
        let manifest = folder.path().join(SetFolder::MANIFEST);
        let manifest = session.manifest(&manifest.to_string_lossy())?;
        let collection = downloads::fetch(session.printer, &manifest).await?;
        let named = items.iter().flat_map(Item::documents);
        let named = named.map(str::to_owned).collect();
        let documents = downloads::documents(collection, named).await?;
        Ok(Self {
            folder,
            items,
            texts: documents
                .into_iter()
                .map(|(id, it)| (id, it.text))
                .collect(),
            writing: Mutex::default(),
        })
    }

    /// Does work on a blocking thread.
    async fn with<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, PageFailure> + Send + 'static,
    ) -> Result<T, PageFailure> {
        let working = tokio::task::spawn_blocking(move || work(&self));
        working.await.unwrap_or_else(|_| Err(PageFailure::fault()))
    }

    fn item(&self, id: &str) -> Result<&Item, PageFailure> {
        let item = self.items.iter().find(|item| item.id == id);
        item.ok_or_else(|| PageFailure::bad_request("The set has no such question."))
    }

    /// The reviews, if the questions are still those that the viewer has read.
    fn reviews(&self) -> Result<Vec<Review>, PageFailure> {
        if self.folder.questions()? != self.items {
            return Err(PageFailure::bad_request(
                "The questions of the set have changed. End `evaluations view`, and start it again.",
            ));
        }
        Ok(self.folder.reviews()?)
    }

    /// The review as it is stored, or what is wrong with it.
    fn checked(&self, sent: Review) -> Result<Review, PageFailure> {
        let item = self.item(&sent.id)?;
        let author = checked_labeller(&sent.author)
            .map_err(|error| PageFailure::bad_request(error.to_string()))?;
        let (author, time) = (author.to_owned(), timestamp(now()));
        let review = Review {
            author,
            time,
            ..sent
        };
        review.checked(item).map_err(PageFailure::bad_request)
    }

    /// Stores a review, unless there is one that its author has not `seen`.
    fn store(&self, sent: Sent) -> Result<(StatusCode, Value), PageFailure> {
        let review = self.checked(sent.review)?;
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = self.folder.lock()?;
        let reviews = self.reviews()?;
        let before = current(&reviews).get(review.id.as_str()).copied();
        match before {
            Some(before) if sent.seen.as_ref() != Some(before) => {
                let message = format!(
                    "Your review is not stored, because {} said “{}” after you opened the question. Decide again to replace that.",
                    before.author, before.verdict
                );
                let reply = json!({"message": message, "review": before});
                return Ok((StatusCode::CONFLICT, reply));
            }
            Some(before) if before.says_the_same(&review) => {
                return Ok((StatusCode::OK, json!({"review": before})));
            }
            _ => lock.add_reviews([review.clone()])?,
        }
        Ok((StatusCode::OK, json!({"review": review})))
    }
}

async fn page(State(set): State<Arc<ReviewedSet>>) -> Result<Html<String>, PageFailure> {
    let page = ReviewingPage {
        name: set.folder.path().display().to_string(),
        author: user_name().unwrap_or_default(),
        questions: set.items.len(),
        size: USUAL_SAMPLE.min(set.items.len()).max(1),
    };
    Ok(Html(page.html()?))
}

/// The sample to review; without it all questions.
#[derive(Debug, Deserialize)]
struct WantedSample {
    size: Option<usize>,
    seed: Option<u64>,
}

/// The questions to review by their ids, each with its last review, whoever wrote it.
async fn queue(
    State(set): State<Arc<ReviewedSet>>,
    Query(WantedSample { size, seed }): Query<WantedSample>,
) -> Result<Json<Value>, ReplyFailure> {
    let queue = set.with(move |set| {
        let reviews = set.reviews()?;
        let current = current(&reviews);
        let drawn = match size.zip(seed) {
            Some((size, seed)) => sample(&set.items, size, seed),
            None => set.items.iter().collect(),
        };
        let drawn = drawn.into_iter().map(|item| item.id.as_str());
        let queue = drawn.map(|id| json!({"id": id, "review": current.get(id)}));
        Ok(queue.collect())
    });
    Ok(Json(queue.await?))
}

#[derive(Debug, Deserialize)]
struct Wanted {
    id: String,
}

async fn question(
    State(set): State<Arc<ReviewedSet>>,
    Query(wanted): Query<Wanted>,
) -> Result<Json<Value>, ReplyFailure> {
    let question = set.with(move |set| {
        let item = set.item(&wanted.id)?;
        let text = |document: &str| set.texts.get(document).map(String::as_str);
        Ok(json!({
            "item": item, "is_answerable": item.is_answerable(), "documents": ShownDocument::of(item, text),
        }))
    });
    Ok(Json(question.await?))
}

#[derive(Debug, Deserialize)]
struct Sent {
    /// With any time.
    review: Review,
    /// The review that the page showed with the question; `None` if it showed none.
    seen: Option<Review>,
}

async fn add(
    State(set): State<Arc<ReviewedSet>>,
    Json(sent): Json<Sent>,
) -> Result<(StatusCode, Json<Value>), ReplyFailure> {
    let (status, reply) = set.with(move |set| set.store(sent)).await?;
    Ok((status, Json(reply)))
}

/// The files of the set cannot be read or written.
impl From<SetError> for PageFailure {
    fn from(error: SetError) -> Self {
        anyhow::Error::from(error).into()
    }
}
