//! The life of one batch: submitted, waited for, and its replies brought to this machine.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use evals_models::Failure;
use tokio::time::{Instant, sleep};

use super::endpoint::{Endpoint, Uncreated};
use super::error::BatchError;
use super::event::BatchEvent;
use super::host::BatchHost;
use super::output::{self, Output};
use super::record::Record;
use super::settings::BatchSettings;
use super::status::{Batch, State};
use super::waiting::Cause;
use crate::openai::chat::OpenAiChat;
use crate::traffic::AttemptError;

/// How often the files of a batch are downloaded while they lack requests that the server counts.
const DOWNLOADS: u32 = 3;

/// How often the server is asked to create a batch while it does not answer and lists no such batch.
const CREATIONS: u32 = 3;

/// Everything that the batches of one model share.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) chat: Arc<OpenAiChat>,
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) settings: Arc<BatchSettings>,
    pub(super) host: Arc<dyn BatchHost>,
}

/// A batch that is over, with its replies on this machine.
#[derive(Debug)]
pub(super) struct Collected {
    pub(super) record: Record,
    pub(super) output: Output,
    pub(super) batch: Batch,
}

impl Desk {
    /// The model's name in messages.
    pub(super) fn model(&self) -> String {
        self.chat.identity.to_string()
    }

    /// Submits a recorded batch with this input file, and waits until it is over.
    pub(super) async fn submit(
        self,
        mut record: Record,
        content: Vec<u8>,
    ) -> Result<Collected, Cause> {
        let name = format!("{}.jsonl", record.key);
        let uploaded = self.endpoint.upload(&name, &content).await;
        let file = match uploaded {
            Ok(file) => file,
            Err(error) => {
                // Without a file there is no batch.
                record.delete();
                return Err(cause(error));
            }
        };
        drop(content);
        record.uploaded(&file).map_err(unrecorded)?;
        self.create(record, &file).await
    }

    /// Creates the batch of an uploaded file, and waits until it is over.
    async fn create(self, mut record: Record, file: &str) -> Result<Collected, Cause> {
        for round in 1..=CREATIONS {
            let created = self
                .endpoint
                .create(&mut record, file, &self.settings.window);
            match created.await {
                Ok(Some(batch)) => {
                    record.created(&batch.id).map_err(unrecorded)?;
                    return self.wait(record, batch.id.clone(), Some(batch)).await;
                }
                // To create it again at once could pay twice: the server may list a new batch late.
                Ok(None) => {
                    if let Some(batch) = self.find(&mut record, true).await? {
                        return self.wait(record, batch, None).await;
                    }
                }
                Err(Uncreated { error, may_exist }) => {
                    if round == 1 && !may_exist {
                        record.delete();
                    }
                    return Err(cause(error));
                }
            }
        }
        let unanswered = BatchError::Unanswered {
            server: self.chat.server.name(),
            attempts: CREATIONS,
        };
        Err(Cause::new(Failure::Transient, unanswered))
    }

    /// Waits for a batch of an earlier process. `None` if that process ended before the batch was created; then the record is deleted.
    pub(super) async fn resume(self, mut record: Record) -> Result<Option<Collected>, Cause> {
        let is_new = record.is_recent();
        let batch = match record.contents.batch.clone() {
            Some(batch) => Some(batch),
            None => self.find(&mut record, is_new).await?,
        };
        let Some(batch) = batch else {
            record.delete();
            return Ok(None);
        };
        self.wait(record, batch, None).await.map(Some)
    }

    /// Asks the server for the batch of a record that does not name it. Asks twice for a new one.
    async fn find(&self, record: &mut Record, is_new: bool) -> Result<Option<String>, Cause> {
        let Some(file) = record.contents.file.clone() else {
            return Ok(None);
        };
        let find = || self.endpoint.find(&file, &record.key, record.path());
        let mut found = find().await.map_err(cause)?;
        if found.is_none() && is_new {
            // The server may list a new batch late.
            sleep(self.settings.poll_interval).await;
            found = find().await.map_err(cause)?;
        }
        if let Some(batch) = &found {
            record.created(&batch.id).map_err(unrecorded)?;
        }
        Ok(found.map(|batch| batch.id))
    }

    /// Waits until a batch is over. Fails if it is not and the settings forbid to wait.
    async fn wait(
        self,
        record: Record,
        id: String,
        mut last: Option<Batch>,
    ) -> Result<Collected, Cause> {
        let began = Instant::now();
        loop {
            let batch = match last.take() {
                Some(batch) => Ok(batch),
                None => self.endpoint.ask(&id, record.path()).await,
            };
            match batch {
                Ok(batch) if batch.state != State::UnderWay => {
                    return self.collect(record, batch).await;
                }
                Ok(batch) if !self.settings.submits => {
                    let under_way = BatchError::UnderWay {
                        server: self.chat.server.name(),
                        batch: batch.id,
                        state: batch.word,
                        needed: record.contents.needed(),
                    };
                    return Err(Cause::new(Failure::Terminal, under_way));
                }
                Ok(batch) => self.tell(&batch, began.elapsed()),
                Err(error) if error.failure == Failure::Transient && self.settings.submits => {
                    self.host.on_event(&BatchEvent::Warning {
                        text: format!(
                            "the state of the batch `{id}` is unknown: {}; it goes on at the server, and the program asks again",
                            evals_messages::chain(&*error.source)
                        ),
                    });
                }
                Err(error) => return Err(cause(error)),
            }
            sleep(self.settings.poll_interval).await;
        }
    }

    fn tell(&self, batch: &Batch, waited: Duration) {
        self.host.on_event(&BatchEvent::Waiting {
            model: self.model(),
            batch: batch.id.clone(),
            state: batch.word.clone(),
            counts: batch.counts,
            waited,
            next: self.settings.poll_interval,
        });
    }

    /// Brings the replies of a batch that is over to this machine.
    async fn collect(self, mut record: Record, mut batch: Batch) -> Result<Collected, Cause> {
        self.host.on_event(&BatchEvent::Ended {
            batch: batch.id.clone(),
        });
        if batch.state == State::Failed {
            if !batch.has_files() && batch.completed() == 0 {
                // The server has answered no request, so there is nothing to collect and nothing to pay.
                record.delete();
                return Err(Cause::new(Failure::Terminal, self.refused(&batch)));
            }
            let (id, reasons) = (&batch.id, self.reasons(&batch));
            self.host.on_event(&BatchEvent::Warning {
                text: format!(
                    "the batch `{id}` failed before its end: {reasons}; its replies are kept"
                ),
            });
        }
        let path = record.replies();
        let mut downloads = 1;
        let output = loop {
            let replies = self.download(&batch, &path, record.path()).await?;
            let output = Output::index(&path).map_err(|error| unreadable(&path, error))?;
            let ids = &record.contents.ids;
            // A server that counts nothing has completed all requests.
            let done = match batch.counts {
                Some(counts) => counts.completed.saturating_add(counts.failed),
                None if batch.state == State::Completed => u64::MAX,
                None => 0,
            };
            let done = usize::try_from(done).unwrap_or(usize::MAX).min(ids.len());
            let found = output.ids().filter(|id| ids.contains(*id)).count();
            if found >= done {
                break output;
            }
            if downloads == DOWNLOADS {
                if replies == 0 && (batch.completed() > 0 || !batch.has_files()) {
                    // To submit all requests again could pay twice for replies that only come late.
                    let withheld = BatchError::Withheld {
                        server: self.chat.server.name(),
                        batch: batch.id,
                        record: record.path().to_owned(),
                    };
                    return Err(Cause::new(Failure::Transient, withheld));
                }
                self.host.on_event(&BatchEvent::Warning {
                    text: format!(
                        "the server has finished {done} of {} requests of the batch `{}`, but returns only {found} of them after {DOWNLOADS} downloads; the program uses these and treats the rest as unanswered",
                        ids.len(),
                        batch.id
                    ),
                });
                break output;
            }
            downloads += 1;
            sleep(self.settings.poll_interval).await;
            // The server may name the files only now.
            match self.endpoint.ask(&batch.id, record.path()).await {
                Ok(later) => batch = later,
                Err(error) if error.failure == Failure::Transient => {}
                Err(error) => return Err(cause(error)),
            }
        };
        record.collected().map_err(unrecorded)?;
        Ok(Collected {
            record,
            output,
            batch,
        })
    }

    /// Writes the server's files of replies and of failures to `path`, and returns the number of lines of the first.
    async fn download(&self, batch: &Batch, path: &Path, record: &Path) -> Result<usize, Cause> {
        let failed = |error| unreadable(path, error);
        fs::write(path, b"").map_err(failed)?;
        let from = (batch.id.as_str(), record);
        if let Some(file) = &batch.output {
            let downloaded = self.endpoint.download(file, path, 0, from);
            downloaded.await.map_err(cause)?;
        }
        let replies = output::lines(path).map_err(failed)?;
        if let Some(file) = &batch.errors {
            let start = fs::metadata(path).map_err(failed)?.len();
            let downloaded = self.endpoint.download(file, path, start, from);
            downloaded.await.map_err(cause)?;
        }
        Ok(replies)
    }

    /// The server's reasons for the failure of a batch.
    fn reasons(&self, batch: &Batch) -> String {
        let reasons = batch.reasons.iter().take(3);
        let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
        let mut reasons = reasons.join("; ");
        if batch.reasons.is_empty() {
            reasons.push_str("it gives no reason");
        } else if batch.reasons.len() > 3 {
            // Writing to a string cannot fail.
            let _ = write!(reasons, "; and {} more", batch.reasons.len() - 3);
        }
        self.chat.server.redacted(&reasons)
    }

    fn refused(&self, batch: &Batch) -> BatchError {
        let is_full = batch
            .reasons
            .iter()
            .any(|reason| reason.code.as_deref() == Some("token_limit_exceeded"));
        BatchError::Refused {
            server: self.chat.server.name(),
            batch: batch.id.clone(),
            reasons: self.reasons(batch),
            advice: if is_full {
                "; set a smaller `batch.max_requests`, or wait until your other batches are over"
            } else {
                ""
            },
        }
    }
}

/// The failure of a call, for all requests of a batch.
pub(super) fn cause(error: AttemptError) -> Cause {
    Cause::new(error.failure, error.source)
}

/// The failure of a record. Without records a request could be paid for twice.
pub(super) fn unrecorded(error: evals::JournalError) -> Cause {
    Cause::new(Failure::Terminal, BatchError::record(error))
}

/// The failure of a file of replies.
pub(super) fn unreadable(path: &Path, error: std::io::Error) -> Cause {
    Cause::new(Failure::Terminal, BatchError::replies(path, error))
}
