//! The calls of the batch protocol: upload, create, find, ask, download.

use std::fs::{File, OpenOptions};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::InputSource;
use async_openai::types::files::{CreateFileRequest, FileInput, FilePurpose};
use evals_models::{Failure, without_lone_surrogates};
use serde_json::{Value, json};

use super::error::BatchError;
use super::record::Record;
use super::status::Batch;
use crate::openai::chat::OpenAiChat;
use crate::openai::transport::{self, Transport};
use crate::server::{Expected, ServerError};
use crate::traffic::{AttemptError, Lane, Refused};

/// The endpoint that the requests of a batch are for.
pub(super) const CHAT: &str = "/v1/chat/completions";

/// The member of a batch's metadata that holds our name of the batch.
const KEY: &str = "evaluations";

const FILE: Expected = Expected::facts("a file");
const BATCH: Expected = Expected::facts("a batch");
const LIST: Expected = Expected::facts("a list of batches");
const REPLIES: Expected = Expected::batch("the replies of a batch");

/// The most pages of batches that are searched, of 100 batches each.
const PAGES: usize = 100;

/// A server's endpoints for files and batches. Calls pass through the traffic with the server.
pub(super) struct Endpoint {
    chat: Arc<OpenAiChat>,
    files: Client<OpenAIConfig>,
    /// Questions about the state of a batch. An outage must not end a wait of hours.
    looks: Lane,
    /// Each call under way holds a clone.
    calls: Arc<()>,
}

/// Why a batch was not created.
pub(super) struct Uncreated {
    pub(super) error: AttemptError,
    /// Whether no answer to an attempt proves that the server refused it, so that the batch may be at the server.
    pub(super) may_exist: bool,
}

impl Endpoint {
    /// `waits` says whether the caller waits for batches, and so asks again after a failed question for the state.
    pub(super) fn new(chat: Arc<OpenAiChat>, waits: bool) -> Self {
        let looks = if waits {
            chat.lane.single()
        } else {
            chat.lane.clone()
        };
        Self {
            files: Transport::client(&chat.server, FILE),
            looks,
            chat,
            calls: Arc::new(()),
        }
    }

    /// How many calls are under way.
    pub(super) fn calls(&self) -> usize {
        Arc::strong_count(&self.calls) - 1
    }

    /// Uploads a file of requests and returns the server's name of it.
    pub(super) async fn upload(&self, name: &str, content: &[u8]) -> Result<String, AttemptError> {
        let attempt = || async {
            let request = CreateFileRequest {
                file: FileInput {
                    source: InputSource::VecU8 {
                        filename: name.to_owned(),
                        vec: content.to_vec(),
                    },
                },
                purpose: FilePurpose::Batch,
                expires_after: None,
            };
            let created = self.files.files().create_byot::<_, Value>(request).await;
            let json = created.or_else(|error| {
                let body = transport::failure(&self.chat.server, error);
                let body = body.map_err(|error| self.without_endpoint(error))?;
                let source = Some(body.source);
                Err(self.chat.server.malformed(FILE.what, &body.text, source))
            })?;
            let id = json.get("id").and_then(Value::as_str);
            id.map(str::to_owned).ok_or_else(|| {
                self.chat
                    .server
                    .unexpected(FILE.what, "one without `id`", None)
            })
        };
        self.call(attempt).await
    }

    /// Creates the batch of an uploaded file. `None` if an attempt had no answer that proves a refusal: that attempt may have created the
    /// batch, so no further one is made, and only a later [search](Self::find) can tell. The record notes each attempt before it is sent.
    ///
    /// # Errors
    ///
    /// The failure of the last attempt, and whether the batch may exist all the same.
    pub(super) async fn create(
        &self,
        record: &mut Record,
        file: &str,
        window: &str,
    ) -> Result<Option<Batch>, Uncreated> {
        let body = json!({
            "input_file_id": file,
            "endpoint": CHAT,
            "completion_window": window,
            "metadata": {KEY: record.key},
        });
        let body = &body;
        // Whether the last attempt had no answer so far that proves a refusal.
        let may_exist = &AtomicBool::new(false);
        let attempt = || {
            let is_possible = may_exist.swap(true, Ordering::Relaxed);
            let noted = if is_possible {
                Ok(())
            } else {
                record.creating()
            };
            async move {
                if is_possible {
                    return Ok(None);
                }
                noted.map_err(|error| {
                    may_exist.store(false, Ordering::Relaxed);
                    AttemptError::new(Failure::Terminal, BatchError::record(error))
                })?;
                let answer = self.chat.server.post("/batches", body, BATCH).await;
                let answer = answer.map_err(|error| {
                    if status(&error).is_some_and(is_refused) {
                        may_exist.store(false, Ordering::Relaxed);
                    }
                    self.without_endpoint(error)
                })?;
                self.batch(&answer).map(Some)
            }
        };
        self.call(attempt).await.map_err(|error| Uncreated {
            error,
            may_exist: may_exist.load(Ordering::Relaxed),
        })
    }

    /// Finds the batch of an uploaded file among those of the account, if it was created.
    pub(super) async fn find(
        &self,
        file: &str,
        key: &str,
        record: &Path,
    ) -> Result<Option<Batch>, AttemptError> {
        let attempt = || async {
            self.search(file, key, record).await.map_err(|error| {
                explained(error, |source| BatchError::Unlisted {
                    server: self.chat.server.name(),
                    file: file.to_owned(),
                    record: record.to_owned(),
                    source,
                })
            })
        };
        self.call(attempt).await
    }

    /// Asks for the state of a batch: once if the caller waits for it.
    pub(super) async fn ask(&self, batch: &str, record: &Path) -> Result<Batch, AttemptError> {
        let path = format!("/batches/{batch}");
        let attempt = || async {
            let answer = self.chat.server.get(&path, BATCH).await;
            let answer = answer.map_err(|error| {
                explained(error, |source| BatchError::UnknownBatch {
                    server: self.chat.server.name(),
                    batch: batch.to_owned(),
                    record: record.to_owned(),
                    source,
                })
            })?;
            self.batch(&answer)
        };
        let delivered = self.looks.call(0, attempt).await?;
        Ok(delivered.value)
    }

    /// Appends the lines of a file at the server to `path`, which has `start` bytes so far. Credentials are removed from each line.
    pub(super) async fn download(
        &self,
        file: &str,
        path: &Path,
        start: u64,
        (batch, record): (&str, &Path),
    ) -> Result<(), AttemptError> {
        let remote = format!("/files/{file}/content");
        let attempt = || async {
            let unwritable =
                |error| AttemptError::new(Failure::Terminal, BatchError::replies(path, error));
            let response = self.chat.server.open(&remote).await;
            let mut response = response.map_err(|error| {
                explained(error, |source| BatchError::NoReplies {
                    server: self.chat.server.name(),
                    batch: batch.to_owned(),
                    file: file.to_owned(),
                    record: record.to_owned(),
                    source,
                })
            })?;
            // An earlier attempt may have left a part of the file.
            let mut local = reopened(path, start).map_err(unwritable)?;
            let (mut read, mut rest) = (0, Vec::new());
            while let Some(piece) = self.chat.server.next(&mut response, read, REPLIES).await? {
                read += piece.len();
                rest.extend_from_slice(&piece);
                let lines = rest.iter().rposition(|byte| *byte == b'\n');
                if let Some(end) = lines {
                    let unfinished = rest.split_off(end + 1);
                    self.write(&mut local, &rest).map_err(unwritable)?;
                    rest = unfinished;
                }
            }
            if !rest.is_empty() {
                rest.push(b'\n');
                self.write(&mut local, &rest).map_err(unwritable)?;
            }
            local.sync_data().map_err(unwritable)
        };
        self.call(attempt).await
    }

    fn write(&self, file: &mut File, lines: &[u8]) -> std::io::Result<()> {
        let text = String::from_utf8_lossy(lines);
        let text = self.chat.server.redacted(&without_lone_surrogates(&text));
        file.write_all(text.as_bytes())
    }

    async fn search(
        &self,
        file: &str,
        key: &str,
        record: &Path,
    ) -> Result<Option<Batch>, AttemptError> {
        let mut after: Option<String> = None;
        for _ in 0..PAGES {
            let mut query = vec![("limit", "100")];
            query.extend(after.as_deref().map(|after| ("after", after)));
            let answer = self.chat.server.get_with("/batches", &query, LIST).await?;
            let page: Value = self.chat.server.parse(LIST, &answer)?;
            let batches = page.get("data").unwrap_or(&page).as_array();
            let batches = batches.map(Vec::as_slice).unwrap_or_default();
            let batches: Vec<Batch> = batches.iter().filter_map(Batch::read).collect();
            let last = batches.last().map(|batch| batch.id.clone());
            let ours = |batch: &Batch| {
                batch.metadata.get(KEY).and_then(Value::as_str) == Some(key)
                    || batch.input.as_deref() == Some(file)
            };
            if let Some(found) = batches.into_iter().find(ours) {
                return Ok(Some(found));
            }
            let more = page.get("has_more").and_then(Value::as_bool);
            if more != Some(true) || last.is_none() || last == after {
                return Ok(None);
            }
            after = last;
        }
        let endless = BatchError::Endless {
            server: self.chat.server.name(),
            batches: PAGES * 100,
            file: file.to_owned(),
            record: record.to_owned(),
        };
        Err(AttemptError::new(Failure::Terminal, endless))
    }

    fn batch(&self, answer: &[u8]) -> Result<Batch, AttemptError> {
        let json: Value = self.chat.server.parse(BATCH, answer)?;
        Batch::read(&json).ok_or_else(|| {
            self.chat
                .server
                .unexpected(BATCH.what, "one without `id`", None)
        })
    }

    /// Says that the server takes no batches, if it answered that there is no such endpoint.
    fn without_endpoint(&self, error: AttemptError) -> AttemptError {
        explained(error, |source| BatchError::NoEndpoint {
            server: self.chat.server.name(),
            source,
        })
    }

    async fn call<T, F, Fut>(&self, attempt: F) -> Result<T, AttemptError>
    where
        F: FnMut() -> Fut,
        Fut: Future<Output = Result<T, AttemptError>>,
    {
        let _under_way = Arc::clone(&self.calls);
        let delivered = self.chat.lane.call(0, attempt).await?;
        Ok(delivered.value)
    }
}

/// The same failure, explained, if the server answered that there is no such thing.
fn explained(error: AttemptError, explain: impl FnOnce(Refused) -> BatchError) -> AttemptError {
    if !matches!(status(&error), Some(404 | 405 | 501)) {
        return error;
    }
    AttemptError::new(Failure::Terminal, explain(Refused::new(error.source)))
}

/// The status of a refusal; `None` for any other failure of an attempt.
fn status(error: &AttemptError) -> Option<u16> {
    match error.source.downcast_ref::<ServerError>() {
        Some(ServerError::Refused { refusal, .. }) => Some(refusal.status),
        // The traffic passes a final refusal on to the calls behind it.
        _ => None,
    }
}

/// Whether an answer with this status proves that the server has not done what was asked. A gateway sends others, such as 408, 499 and 502,
/// also when it has passed the request on.
fn is_refused(status: u16) -> bool {
    matches!(
        status,
        400..=406 | 410 | 411 | 413..=415 | 422 | 429 | 431 | 451
    )
}

/// Opens a file for writing behind its first `start` bytes.
fn reopened(path: &Path, start: u64) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    file.set_len(start)?;
    file.seek(SeekFrom::Start(start))?;
    Ok(file)
}
