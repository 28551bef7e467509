//! The calls of the batch protocol: upload, create, find, ask, download.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use evals::JournalError;
use evals_models::{ChatError, ChatModel as _, ChatReply, ChatRequest, Failure};
use serde_json::{Value, json};
use thiserror::Error;

use super::host::{BatchEvent, BatchHost, BatchSettings};
use super::output::{CHAT, DescribedBatch};
use super::record::BatchRecord;
use crate::chat::raw_reply;
use crate::openai::chat::OpenAiChat;
use crate::server::{Expected, ServerError};
use crate::traffic::{AttemptError, Lane};

/// The member of a batch's metadata that holds our name of the batch.
const KEY: &str = "evaluations";

const FILE: Expected = Expected::facts("a file");
const BATCH: Expected = Expected::facts("a batch");
const LIST: Expected = Expected::facts("a list of batches");
const REPLIES: Expected = Expected::batch("the replies of a batch");

/// The most pages of batches that are searched, of 100 batches each.
const PAGES: usize = 100;

/// What the batches of one model share. Its calls pass through the traffic with the server.
#[derive(Debug)]
pub(super) struct Batching {
    pub(super) chat: OpenAiChat,
    pub(super) settings: BatchSettings,
    pub(super) host: Arc<dyn BatchHost>,
    /// For calls that are repeated here: if the program waits for a batch, an outage must not end a wait of hours.
    single: Lane,
}

impl Batching {
    pub(super) fn new(chat: OpenAiChat, settings: BatchSettings, host: Arc<dyn BatchHost>) -> Self {
        Self {
            single: if settings.submits {
                chat.lane.single()
            } else {
                chat.lane.clone()
            },
            chat,
            settings,
            host,
        }
    }

    /// The server's name in messages.
    pub(super) fn server(&self) -> String {
        self.chat.server.name()
    }

    pub(super) fn note(&self, text: String) {
        self.host.on_event(&BatchEvent::Note(text));
    }

    pub(super) fn warn(&self, text: String) {
        self.host.on_event(&BatchEvent::Warning(text));
    }

    /// Sends a request outside of batches.
    pub(super) async fn ask_directly(
        &self,
        id: &str,
        request: &ChatRequest,
    ) -> Result<ChatReply, ChatError> {
        let reply = self.chat.chat(request).await?;
        let received = [(id.to_owned(), reply)];
        let kept = self.host.receive(&self.chat, &received).await;
        kept.map_err(|error| {
            let error = terminal("cannot keep a reply", error);
            raw_reply::chat_error(&self.chat.identity, error)
        })?;
        let [(_, reply)] = received;
        Ok(reply)
    }

    /// Uploads a file of requests and returns the server's name of it.
    pub(super) async fn upload(&self, name: &str, content: &str) -> Result<String, AttemptError> {
        let server = &self.chat.server;
        let attempt = || async {
            let answer = server.upload("/files", (name, content), FILE).await;
            let answer = answer.map_err(|error| self.without_endpoint(error))?;
            let json: Value = server.parse(FILE, &answer)?;
            let id = json.get("id").and_then(Value::as_str);
            id.map(str::to_owned)
                .ok_or_else(|| server.unexpected(FILE.what, "one without `id`", None))
        };
        Ok(self.chat.lane.call(0, attempt).await?.value)
    }

    /// Asks once to create the batch of an uploaded file.
    pub(super) async fn create(
        &self,
        key: &str,
        file: &str,
    ) -> Result<DescribedBatch, AttemptError> {
        let body = json!({
            "input_file_id": file,
            "endpoint": CHAT,
            "completion_window": self.settings.window,
            "metadata": {KEY: key},
        });
        let attempt = || async {
            let answer = self.chat.server.post("/batches", &body, BATCH).await?;
            self.described(&answer)
        };
        Ok(self.single.call(0, attempt).await?.value)
    }

    /// Finds the batch of a record among those of the account, if it was created.
    pub(super) async fn find(
        &self,
        record: &BatchRecord,
        file: &str,
    ) -> Result<Option<DescribedBatch>, AttemptError> {
        let unknown = |how: &str| {
            format!(
                "{} {how}, so the program cannot find out whether it has a batch of the file `{file}`: look for the batch there; if you find none, delete `{}` to submit its requests again",
                self.server(),
                record.path().display()
            )
        };
        let mut after: Option<String> = None;
        for _ in 0..PAGES {
            let mut query = vec![("limit", "100")];
            query.extend(after.as_deref().map(|after| ("after", after)));
            let absent = || unknown("does not list its batches");
            let answer = self
                .get(&self.chat.lane, "/batches", &query, LIST, absent)
                .await?;
            let page: Value = self.chat.server.parse(LIST, &answer)?;
            let batches = page.get("data").unwrap_or(&page).as_array();
            let batches = batches.into_iter().flatten();
            let batches: Vec<_> = batches.filter_map(DescribedBatch::read).collect();
            let last = batches.last().map(|batch| batch.id.clone());
            let found = batches.into_iter().find(|batch| {
                batch.metadata.get(KEY).and_then(Value::as_str) == Some(&record.key)
                    || batch.input.as_deref() == Some(file)
            });
            let has_more = page.get("has_more").and_then(Value::as_bool) == Some(true);
            if found.is_some() || !has_more || last.is_none() || last == after {
                return Ok(found);
            }
            after = last;
        }
        let text = unknown(&format!("lists more than {} batches", PAGES * 100));
        Err(AttemptError::new(Failure::Terminal, text))
    }

    /// Asks for the state of a batch: once if the program waits for it.
    pub(super) async fn look(
        &self,
        batch: &str,
        record: &Path,
    ) -> Result<DescribedBatch, AttemptError> {
        let path = format!("/batches/{batch}");
        let absent = || {
            format!(
                "{} does not know the batch `{batch}`: set the key of the account that submitted it; if the batch is lost, delete `{}` to submit its requests again",
                self.server(),
                record.display()
            )
        };
        let answer = self.get(&self.single, &path, &[], BATCH, absent).await?;
        self.described(&answer)
    }

    /// Downloads a file with replies of a batch.
    pub(super) async fn download(
        &self,
        file: &str,
        batch: &str,
        record: &Path,
    ) -> Result<Vec<u8>, AttemptError> {
        let path = format!("/files/{file}/content");
        let absent = || {
            format!(
                "{} does not have the file `{file}` with replies of the batch `{batch}`; if the server deleted it, delete `{}` to submit the requests again",
                self.server(),
                record.display()
            )
        };
        self.get(&self.chat.lane, &path, &[], REPLIES, absent).await
    }

    /// Gets something that the server should have. `absent` says what it means if the server does not have it.
    async fn get(
        &self,
        lane: &Lane,
        path: &str,
        query: &[(&str, &str)],
        expected: Expected,
        absent: impl Fn() -> String,
    ) -> Result<Vec<u8>, AttemptError> {
        let attempt = || async {
            let answer = self.chat.server.get(path, query, expected).await;
            answer.map_err(|error| explained_absence(error, &absent))
        };
        Ok(lane.call(0, attempt).await?.value)
    }

    fn described(&self, answer: &[u8]) -> Result<DescribedBatch, AttemptError> {
        let server = &self.chat.server;
        let json: Value = server.parse(BATCH, answer)?;
        DescribedBatch::read(&json)
            .ok_or_else(|| server.unexpected(BATCH.what, "one without `id`", None))
    }

    /// Explains the failure if the server has no endpoint for batches.
    pub(super) fn without_endpoint(&self, error: AttemptError) -> AttemptError {
        explained_absence(error, || {
            format!(
                "{} does not take batches; run without `--batch`",
                self.server()
            )
        })
    }
}

/// Adds this explanation to the failure if the server answered that the address does not exist.
fn explained_absence(error: AttemptError, text: impl FnOnce() -> String) -> AttemptError {
    if matches!(refusal_status(&error), Some(404 | 405 | 501)) {
        explained(Failure::Terminal, text(), error.source)
    } else {
        error
    }
}

/// Whether an answer proves that the server has not done what was asked. A gateway sends other statuses, such as 408, 499 and 502, also when it
/// has passed the request on.
pub(super) fn proves_refusal(error: &AttemptError) -> bool {
    matches!(
        refusal_status(error),
        Some(400..=406 | 410 | 411 | 413..=415 | 422 | 429 | 431 | 451)
    )
}

/// The status of a refusal; `None` for any other failure.
fn refusal_status(error: &AttemptError) -> Option<u16> {
    match error.source.downcast_ref::<ServerError>() {
        Some(ServerError::Refused { refusal, .. }) => Some(refusal.status),
        _ => None,
    }
}

/// A failure in our words, and what it comes from.
#[derive(Debug, Error)]
#[error("{text}")]
struct Explained {
    text: String,
    source: Box<dyn Error + Send + Sync>,
}

/// A failure with this text before the error that it comes from.
pub(super) fn explained(
    failure: Failure,
    text: impl Into<String>,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> AttemptError {
    let (text, source) = (text.into(), source.into());
    AttemptError::new(failure, Explained { text, source })
}

/// A failure that ends the run, with the error that it comes from.
pub(super) fn terminal(
    text: impl Into<String>,
    source: impl Into<Box<dyn Error + Send + Sync>>,
) -> AttemptError {
    explained(Failure::Terminal, text, source)
}

/// Without records a request could be paid for twice.
impl From<JournalError> for AttemptError {
    fn from(error: JournalError) -> Self {
        terminal("cannot record a batch", error)
    }
}
