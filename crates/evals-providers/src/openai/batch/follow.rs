//! The life of one batch: submitted, waited for, and its replies brought to this machine.

use std::sync::Arc;
use std::time::Duration;

use evals_models::Failure;
use tokio::time::{Instant, sleep};

use super::endpoint::{Batching, proves_refusal};
use super::host::BatchEvent;
use super::output::{BatchOutput, BatchState, DescribedBatch};
use super::record::{BatchRecord, BatchStep};
use crate::traffic::AttemptError;

/// How often the files of a batch are downloaded while they lack requests that the server counts.
const DOWNLOADS: u32 = 3;

/// How often the server is asked to create a batch while it does not answer and lists no such batch.
const CREATIONS: u32 = 3;

/// A batch that is over, with its replies.
#[derive(Debug)]
pub(super) struct CollectedBatch {
    pub(super) record: BatchRecord,
    pub(super) output: BatchOutput,
    pub(super) batch: DescribedBatch,
}

impl Batching {
    /// Submits a recorded batch with this input file, and waits until it is over.
    pub(super) async fn submit(
        self: Arc<Self>,
        mut record: BatchRecord,
        content: String,
    ) -> Result<CollectedBatch, AttemptError> {
        let name = format!("{}.jsonl", record.key);
        let file = match self.upload(&name, &content).await {
            Ok(file) => file,
            Err(error) => {
                // Without a file there is no batch.
                record.delete();
                return Err(error);
            }
        };
        drop(content);
        let id = file.clone();
        record.append(BatchStep::File { id })?;
        let mut may_exist = false;
        for round in 1..=CREATIONS {
            record.append(BatchStep::Creating {})?;
            let error = match self.create(&record.key, &file).await {
                Ok(batch) => {
                    let id = batch.id.clone();
                    record.append(BatchStep::Batch { id: id.clone() })?;
                    return self.wait(record, id, Some(batch)).await;
                }
                Err(error) => error,
            };
            let is_refused = proves_refusal(&error);
            may_exist |= !is_refused;
            if is_refused && (error.failure != Failure::Transient || round == CREATIONS) {
                if !may_exist {
                    record.delete();
                }
                return Err(self.without_endpoint(error));
            }
            // To create it again at once could pay twice, because the server may list a new batch late.
            if let Some(batch) = self.find_batch(&mut record, true).await? {
                return self.wait(record, batch, None).await;
            }
        }
        let text = format!(
            "{} did not answer {CREATIONS} requests to create a batch, and does not list the batch: run the same command again later",
            self.server()
        );
        Err(AttemptError::new(Failure::Transient, text))
    }

    /// Waits for a batch of an earlier process. `None` if that process ended before the batch was created; then the record is deleted.
    pub(super) async fn resume(
        self: Arc<Self>,
        mut record: BatchRecord,
    ) -> Result<Option<CollectedBatch>, AttemptError> {
        let is_new = record.is_recent();
        let batch = match record.contents.batch.clone() {
            Some(batch) => Some(batch),
            None => self.find_batch(&mut record, is_new).await?,
        };
        let Some(batch) = batch else {
            record.delete();
            return Ok(None);
        };
        self.wait(record, batch, None).await.map(Some)
    }

    /// Asks the server for the batch of a record that does not name it. Asks twice for a new one.
    async fn find_batch(
        &self,
        record: &mut BatchRecord,
        is_new: bool,
    ) -> Result<Option<String>, AttemptError> {
        let Some(file) = record.contents.file.clone() else {
            return Ok(None);
        };
        let mut found = self.find(record, &file).await?;
        if found.is_none() && is_new {
            // The server may list a new batch late.
            sleep(self.settings.poll_interval).await;
            found = self.find(record, &file).await?;
        }
        if let Some(batch) = &found {
            let id = batch.id.clone();
            record.append(BatchStep::Batch { id })?;
        }
        Ok(found.map(|batch| batch.id))
    }

    /// Waits until a batch is over, and collects its replies. Fails if it is not over and the settings forbid to wait.
    async fn wait(
        &self,
        record: BatchRecord,
        id: String,
        mut last: Option<DescribedBatch>,
    ) -> Result<CollectedBatch, AttemptError> {
        let began = Instant::now();
        loop {
            let batch = match last.take() {
                Some(batch) => Ok(batch),
                None => self.look(&id, record.path()).await,
            };
            match batch {
                Ok(batch) if batch.state != BatchState::UnderWay => {
                    return self.collect(record, batch).await;
                }
                Ok(batch) if !self.settings.submits => {
                    return Err(self.under_way(&batch, record.contents.ids.len()));
                }
                Ok(batch) => self.tell(&batch, began.elapsed()),
                Err(error) if error.failure == Failure::Transient && self.settings.submits => {
                    self.warn(format!(
                        "the state of the batch `{id}` is unknown: {}; it goes on at the server, and the program asks again",
                        evals_messages::chain(&*error.source)
                    ));
                }
                Err(error) => return Err(error),
            }
            sleep(self.settings.poll_interval).await;
        }
    }

    fn tell(&self, batch: &DescribedBatch, waited: Duration) {
        self.host.on_event(&BatchEvent::Waiting {
            model: self.chat.identity.to_string(),
            batch: batch.id.clone(),
            state: batch.word.clone(),
            counts: batch.counts,
            waited,
            next: self.settings.poll_interval,
        });
    }

    /// The failure of a request in a batch that is not over, for a program that does not wait for batches.
    fn under_way(&self, batch: &DescribedBatch, missing: usize) -> AttemptError {
        let replies = evals_messages::quantity::of(missing, "reply");
        let are = if missing == 1 { "is" } else { "are" };
        let text = format!(
            "the batch `{id}` at {server} is still `{state}`, and an earlier run paid for it; {replies} of it {are} not on this machine yet. To wait for the batch, run the same command with `--batch`. To give it up, cancel it at the server (`POST /batches/{id}/cancel`) and run the same command again when it has ended: the program keeps the replies that the batch has by then, and sends the other requests directly",
            id = batch.id,
            server = self.server(),
            state = batch.word,
        );
        AttemptError::new(Failure::Terminal, text)
    }

    /// Brings the replies of a batch that is over to this machine.
    async fn collect(
        &self,
        record: BatchRecord,
        batch: DescribedBatch,
    ) -> Result<CollectedBatch, AttemptError> {
        let id = batch.id.clone();
        self.host.on_event(&BatchEvent::Ended { batch: id });
        if batch.state == BatchState::Failed {
            let reasons = self.reasons(&batch);
            if !batch.has_files() && batch.completed() == 0 {
                // The server has answered no request, so there is nothing to collect and nothing to pay.
                record.delete();
                let is_full = batch
                    .reasons
                    .iter()
                    .any(|it| it.contains("`token_limit_exceeded`"));
                let advice = if is_full {
                    "; set a smaller `batch.max_requests`, or wait until your other batches are over"
                } else {
                    ""
                };
                let text = format!(
                    "{} refused the batch `{}`: {reasons}{advice}",
                    self.server(),
                    batch.id
                );
                return Err(AttemptError::new(Failure::Terminal, text));
            }
            self.warn(format!(
                "the batch `{}` failed before its end: {reasons}; its replies are kept",
                batch.id
            ));
        }
        let (output, batch) = self.download_all(&record, batch).await?;
        Ok(CollectedBatch {
            record,
            output,
            batch,
        })
    }

    /// Downloads the files of a batch that is over, again while they lack requests that the server counts.
    async fn download_all(
        &self,
        record: &BatchRecord,
        mut batch: DescribedBatch,
    ) -> Result<(BatchOutput, DescribedBatch), AttemptError> {
        let ids = &record.contents.ids;
        for round in 1.. {
            let mut output = BatchOutput::default();
            if let Some(file) = &batch.output {
                output.add(&self.download(file, &batch.id, record.path()).await?);
            }
            let replies = output.total;
            if let Some(file) = &batch.errors {
                output.add(&self.download(file, &batch.id, record.path()).await?);
            }
            // A server that counts nothing has completed all requests.
            let done = match batch.counts {
                Some(counts) => usize::try_from(counts.done()).unwrap_or(usize::MAX),
                None if batch.state == BatchState::Completed => usize::MAX,
                None => 0,
            };
            let done = done.min(ids.len());
            let found = output.ids().filter(|id| ids.contains(*id)).count();
            if found >= done {
                return Ok((output, batch));
            }
            if round == DOWNLOADS {
                if replies == 0 && (batch.completed() > 0 || !batch.has_files()) {
                    break;
                }
                self.warn(format!(
                    "the server has finished {done} of {} requests of the batch `{}`, but returns only {found} of them after {DOWNLOADS} downloads; the program uses these and treats the rest as unanswered",
                    ids.len(),
                    batch.id
                ));
                return Ok((output, batch));
            }
            sleep(self.settings.poll_interval).await;
            // The server may name the files only now.
            match self.look(&batch.id, record.path()).await {
                Ok(later) => batch = later,
                Err(error) if error.failure == Failure::Transient => {}
                Err(error) => return Err(error),
            }
        }
        // To submit all requests again could pay twice for replies that only come late.
        let text = format!(
            "{} has ended the batch `{}`, but returns no replies: run the same command again later; if the replies are lost, delete `{}` to submit the requests again",
            self.server(),
            batch.id,
            record.path().display()
        );
        Err(AttemptError::new(Failure::Transient, text))
    }

    /// The server's reasons for the failure of a batch.
    fn reasons(&self, batch: &DescribedBatch) -> String {
        let further = batch.reasons.len().saturating_sub(3);
        let mut reasons: Vec<String> = batch.reasons.iter().take(3).cloned().collect();
        if reasons.is_empty() {
            reasons.push("it gives no reason".to_owned());
        }
        if further > 0 {
            reasons.push(format!("and {further} more"));
        }
        self.chat.server.redacted(&reasons.join("; "))
    }
}
