//! The questions of a test set that people keep, edit or drop, beside the evidence in its documents.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use axum::http::StatusCode;
use evals_html::view::{Reviewed, ReviewingPage};
use evals_pipeline::downloads;
use evals_pipeline::session::Session;
use evals_questions::review::{Review, ShownDocument, current, sample};
use evals_questions::{Item, SetError, SetFolder};
use evals_runs::annotations::user_name;
use evals_runs::clock::{now, timestamp};
use serde_json::{Value, json};

use super::super::failure::{PageFailure, person};
use super::{Sent, Source, WantedSample};

/// How many questions a sample has unless somebody chooses another number.
const USUAL_SAMPLE: usize = 50;

/// A test set with its documents.
#[derive(Debug)]
pub(crate) struct ReviewedSet {
    folder: SetFolder,
    items: Vec<Item>,
    /// The texts of the documents that the questions name, by id.
    texts: BTreeMap<String, String>,
    /// The lock of the folder keeps other processes out, and this one two requests apart.
    writing: Mutex<()>,
}

impl ReviewedSet {
    /// Reads the questions, and the documents that they name.
    pub(crate) async fn open(session: &Session<'_>, folder: SetFolder) -> Result<Self> {
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
}

impl Source for ReviewedSet {
    type Review = Review;

    fn page(&self) -> ReviewingPage {
        ReviewingPage {
            of: Reviewed::Questions,
            name: self.folder.path().display().to_string(),
            author: user_name().unwrap_or_default(),
            questions: self.items.len(),
            size: USUAL_SAMPLE.min(self.items.len()).max(1),
        }
    }

    /// A sample, or all questions. A question has its last review, whoever wrote it.
    fn queue(&self, wanted: &WantedSample) -> Result<Vec<Value>, PageFailure> {
        let reviews = self.reviews()?;
        let current = current(&reviews);
        let drawn = match wanted.size.zip(wanted.seed) {
            Some((size, seed)) => sample(&self.items, size, seed),
            None => self.items.iter().collect(),
        };
        let drawn = drawn.into_iter().map(|item| item.id.as_str());
        let queue = drawn.map(|id| json!({"id": id, "review": current.get(id)}));
        Ok(queue.collect())
    }

    fn shown(&self, id: &str) -> Result<Value, PageFailure> {
        let item = self.item(id)?;
        let text = |document: &str| self.texts.get(document).map(String::as_str);
        Ok(json!({
            "item": item, "is_answerable": item.is_answerable(), "documents": ShownDocument::of(item, text),
        }))
    }

    /// Stores a review, unless there is one that its author has not `seen`.
    fn store(&self, sent: Sent<Review>) -> Result<(StatusCode, Value), PageFailure> {
        let item = self.item(&sent.review.id)?;
        let review = Review {
            author: person(&sent.review.author)?.to_owned(),
            time: timestamp(now()),
            ..sent.review
        };
        let review = review.checked(item).map_err(PageFailure::bad_request)?;
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

/// The files of the set cannot be read or written.
impl From<SetError> for PageFailure {
    fn from(error: SetError) -> Self {
        anyhow::Error::from(error).into()
    }
}
