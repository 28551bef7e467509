//! The task that owns the batches of one model: it gathers requests, submits batches, and hands out replies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use evals_messages::quantity;
use evals_models::{ChatModel as _, ChatReply, ChatRequest, Failure};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::endpoint::{Batching, terminal};
use super::follow::CollectedBatch;
use super::host::BatchSize;
use super::output::input_line;
use super::record::RecordFolder;
use super::waiting::{Answer, Fate, Waiting};
use crate::chat::raw_reply;
use crate::openai::dialect::Dialect;
use crate::traffic::AttemptError;

/// A request for the clerk.
#[derive(Debug)]
pub(super) struct BatchedRequest {
    pub(super) id: String,
    pub(super) request: Arc<ChatRequest>,
    pub(super) caller: oneshot::Sender<Answer>,
}

/// The end of a batch.
struct EndedBatch {
    ids: BTreeSet<String>,
    /// What is reserved for it.
    size: BatchSize,
    /// The file of its record, which is there as long as the batch may be at the server.
    record: PathBuf,
    /// `None` if an earlier process ended before it created the batch.
    end: Result<Option<CollectedBatch>, AttemptError>,
}

/// The batches of one model.
pub(super) struct Clerk {
    batching: Arc<Batching>,
    inbox: mpsc::UnboundedReceiver<BatchedRequest>,
    /// Every request with callers.
    waiting: BTreeMap<String, Waiting>,
    /// Those of them that are in no batch yet. Their ids order them, because the times at which they came differ from run to run, and a
    /// report says which of them was sent directly.
    gathered: BTreeSet<String>,
    /// When the last of them came, or the first request was answered.
    arrived: Instant,
    /// The requests of batches under way, and, with the reason, those of batches that could not be followed to their end or whose replies could
    /// not be stored. The latter may be at the server all the same. Only a later process can find that out, so this one submits none of them.
    submitted: BTreeMap<String, Option<AttemptError>>,
    /// Replies that no caller has waited for so far.
    replies: BTreeMap<String, ChatReply>,
    records: RecordFolder,
    batches: JoinSet<EndedBatch>,
    /// Whether the model has answered a direct request, or need not.
    is_tried: bool,
}

impl Clerk {
    pub(super) fn new(
        batching: Arc<Batching>,
        inbox: mpsc::UnboundedReceiver<BatchedRequest>,
    ) -> Self {
        Self {
            is_tried: !batching.settings.first_direct,
            records: RecordFolder::new(&batching.settings.folder, batching.chat.parameters()),
            batching,
            inbox,
            waiting: BTreeMap::new(),
            gathered: BTreeSet::new(),
            arrived: Instant::now(),
            submitted: BTreeMap::new(),
            replies: BTreeMap::new(),
            batches: JoinSet::new(),
        }
    }

    /// Works until the model is dropped.
    pub(super) async fn work(mut self) {
        loop {
            let due = if self.is_full() {
                self.arrived
            } else {
                self.arrived + self.batching.settings.quiet
            };
            tokio::select! {
                biased;
                asked = self.inbox.recv() => match asked {
                    Some(asked) => self.ask(asked),
                    None => return,
                },
                Some(ended) = self.batches.join_next(), if !self.batches.is_empty() => match ended {
                    Ok(ended) => self.ended(ended).await,
                    // A task panics only because of a bug. Its callers must not wait for ever.
                    Err(error) => {
                        let ids: Vec<String> = self.waiting.keys().cloned().collect();
                        self.end(ids, &AttemptError::new(Failure::Terminal, error));
                    }
                },
                () = sleep_until(due), if !self.gathered.is_empty() => self.consider().await,
            }
        }
    }

    /// Whether the gathered requests fill a batch.
    fn is_full(&self) -> bool {
        self.gathered.len() >= self.batching.settings.max_requests.get()
    }

    fn ask(&mut self, asked: BatchedRequest) {
        let BatchedRequest {
            id,
            request,
            caller,
        } = asked;
        let is_new = !self.waiting.contains_key(&id);
        let waiting = self.waiting.entry(id.clone());
        let waiting = waiting.or_insert_with(|| Waiting::new(request));
        waiting.callers.push(caller);
        if is_new {
            self.arrived = Instant::now();
            self.place(id);
        }
    }

    /// Finds out where the reply to a waiting request comes from: a batch that is over, a batch under way, also of an earlier process, or the
    /// next batch.
    fn place(&mut self, id: String) {
        if let Err(cause) = self.take_over(&id) {
            self.fail(&id, &cause);
        } else if let Some(submitted) = self.submitted.get(&id) {
            if let Some(cause) = submitted.clone() {
                self.fail(&id, &cause);
            }
        } else if let Some(reply) = self.replies.remove(&id) {
            self.deliver(id, reply);
        } else {
            self.gather(id);
        }
    }

    /// Takes over the batches of earlier processes with this request.
    fn take_over(&mut self, id: &str) -> Result<(), AttemptError> {
        while let Some(record) = self.records.take(id)? {
            let size = record.contents.size;
            // It is at the server already, so it is not refused.
            let _ = self.batching.host.reserve(&size, true);
            let (ids, path) = (record.contents.ids.clone(), record.path().to_owned());
            let resumed = Arc::clone(&self.batching).resume(record);
            self.follow(ids, size, path, resumed);
        }
        Ok(())
    }

    /// Gathers a request for the next batch, or has its callers send it if the settings allow no further batch.
    fn gather(&mut self, id: String) {
        if self.batching.settings.submits {
            self.gathered.insert(id);
        } else if let Some(waiting) = self.waiting.remove(&id) {
            waiting.end(|| Ok(None));
        }
    }

    /// Hands a reply to its callers, or keeps it for a later one.
    fn deliver(&mut self, id: String, reply: ChatReply) {
        if let Some(waiting) = self.waiting.remove(&id) {
            waiting.end(|| Ok(Some(reply.clone())));
        } else {
            self.replies.insert(id, reply);
        }
    }

    fn fail(&mut self, id: &str, cause: &AttemptError) {
        if let Some(waiting) = self.waiting.remove(id) {
            let model = &self.batching.chat.identity;
            waiting.end(|| Err(raw_reply::chat_error(model, cause.clone())));
        }
    }

    /// Ends requests with a failure.
    fn end(&mut self, ids: impl IntoIterator<Item = String>, cause: &AttemptError) {
        for id in ids {
            self.fail(&id, cause);
        }
    }

    /// Submits what was gathered, unless it leaves room in a batch and something is under way that may lead to more.
    async fn consider(&mut self) {
        if !self.is_full() && self.batching.host.under_way() > 0 {
            self.arrived = Instant::now();
        } else if let Err(cause) = self.submit().await {
            let gathered = std::mem::take(&mut self.gathered);
            self.end(gathered, &cause);
        }
    }

    /// Submits what was gathered, as far as it fits into one batch. The first request of a model is sent directly before.
    ///
    /// Two processes that start together look for records and stored replies before either has any. So each looks again, and no process writes
    /// a record between this look and the new record.
    async fn submit(&mut self) -> Result<(), AttemptError> {
        let _turn = if self.is_tried {
            Some(self.records.turn().await?)
        } else {
            None
        };
        self.records.scan()?;
        for id in std::mem::take(&mut self.gathered) {
            self.place(id);
        }
        self.deliver_stored().await?;
        if self.is_tried {
            self.submit_batch();
        } else if let Some(id) = self.gathered.pop_first() {
            self.try_first(id).await?;
        }
        Ok(())
    }

    /// Delivers those replies to gathered requests that the program has stored since the callers asked.
    ///
    /// The store of replies is asked after the records. A process deletes its record only when each reply of the batch that is worth storing
    /// is in the store. So such a reply that another process has paid for is found in one place or the other. Empty replies and failed lines
    /// are in neither, and their requests are submitted again.
    async fn deliver_stored(&mut self) -> Result<(), AttemptError> {
        let ids: Vec<String> = self.gathered.iter().cloned().collect();
        let stored = self.batching.host.stored(&ids).await.map_err(|error| {
            terminal(
                "cannot find out whether the reply was stored meanwhile",
                error,
            )
        })?;
        for (id, reply) in ids.into_iter().zip(stored) {
            if let Some(mut reply) = reply {
                reply.served.cached = true;
                self.gathered.remove(&id);
                self.deliver(id, reply);
            }
        }
        Ok(())
    }

    /// Sends a request directly. A failure that concerns every request is returned.
    async fn try_first(&mut self, id: String) -> Result<(), AttemptError> {
        let request = Arc::clone(&self.waiting[&id].request);
        let batching = Arc::clone(&self.batching);
        let mut size = BatchSize::default();
        size.add(&batching.chat, &request);
        let reserved = batching.host.reserve(&size, false);
        let answer = match reserved {
            Ok(()) => {
                let answer = batching.ask_directly(&id, &request).await;
                batching.host.release(&size, &BTreeSet::new());
                answer.map_err(|error| AttemptError::new(error.failure, error.source))
            }
            Err(error) => Err(terminal("the first request was not sent", error)),
        };
        // Its caller now goes on, which may lead to further requests.
        self.arrived = Instant::now();
        match answer {
            Ok(reply) => self.deliver(id, reply),
            Err(cause) => {
                self.fail(&id, &cause);
                if cause.failure == Failure::Terminal {
                    return Err(cause);
                }
                // Only this request failed, or the server accepts no direct requests at the moment. Batches may still work.
            }
        }
        self.is_tried = true;
        Ok(())
    }

    /// Submits the gathered requests that fit into one batch, if the budget allows it. Otherwise they end.
    fn submit_batch(&mut self) {
        let batching = Arc::clone(&self.batching);
        let dialect = batching.chat.dialect();
        let (ids, content, size) = self.draft(&dialect);
        if ids.is_empty() {
            return;
        }
        if let Err(error) = batching.host.reserve(&size, false) {
            self.end(ids, &terminal("the batch was not submitted", error));
            return;
        }
        let record = match self.records.create(ids.clone(), size) {
            Ok(record) => record,
            Err(error) => {
                batching.host.release(&size, &BTreeSet::new());
                self.end(ids, &error.into());
                return;
            }
        };
        for id in &ids {
            if let Some(waiting) = self.waiting.get_mut(id) {
                waiting.sent = Some(dialect.clone());
            }
        }
        batching.note(format!(
            "submitting a batch of {} to `{}`",
            quantity::of(ids.len(), "request"),
            batching.chat.identity
        ));
        let path = record.path().to_owned();
        let submitted = async { batching.submit(record, content).await.map(Some) };
        self.follow(ids, size, path, submitted);
    }

    /// Takes the gathered requests that fit into one batch: their ids, the input file, and its size.
    fn draft(&mut self, dialect: &Dialect) -> (BTreeSet<String>, String, BatchSize) {
        let (mut ids, mut content) = (BTreeSet::new(), String::new());
        let mut size = BatchSize::default();
        let batching = Arc::clone(&self.batching);
        let (chat, most) = (&batching.chat, batching.settings.max_bytes);
        while ids.len() < batching.settings.max_requests.get()
            && let Some(id) = self.gathered.pop_first()
        {
            let request = Arc::clone(&self.waiting[&id].request);
            let line = match chat.body(&request, dialect) {
                Ok(body) => input_line(&id, &body),
                Err(error) => {
                    self.fail(&id, &AttemptError::new(Failure::Content, error));
                    continue;
                }
            };
            if line.len() > most {
                let bytes = line.len();
                let text = format!("the request has {bytes} bytes, and a batch may have {most}");
                self.fail(&id, &AttemptError::new(Failure::Content, text));
            } else if content.len() + line.len() > most {
                self.gathered.insert(id);
                break;
            } else {
                content.push_str(&line);
                size.add(chat, &request);
                ids.insert(id);
            }
        }
        (ids, content, size)
    }

    fn follow(
        &mut self,
        ids: BTreeSet<String>,
        size: BatchSize,
        record: PathBuf,
        end: impl Future<Output = Result<Option<CollectedBatch>, AttemptError>> + Send + 'static,
    ) {
        let under_way = ids.iter().map(|id| (id.clone(), None));
        self.submitted.extend(under_way);
        self.batches.spawn(async move {
            let end = end.await;
            EndedBatch {
                ids,
                size,
                record,
                end,
            }
        });
    }

    /// Ends a batch. Its reservation ends with its record.
    async fn ended(&mut self, ended: EndedBatch) {
        let ids = ended.ids;
        self.submitted.retain(|id, _| !ids.contains(id));
        let end = match ended.end {
            Ok(Some(collected)) => self.hand_out(collected).await,
            // The batch was never created.
            Ok(None) => {
                self.gather_again(&ids);
                Ok(())
            }
            Err(cause) => Err(cause),
        };
        let is_over = !ended.record.exists();
        if is_over {
            self.batching.host.release(&ended.size, &ids);
        }
        match end {
            Ok(()) => {}
            // The server has answered no request of this batch, and a direct call needs none.
            Err(cause) if is_over && !self.batching.settings.submits => {
                let reason = evals_messages::chain(&cause.source);
                let text = format!("{reason}; its requests are sent directly");
                self.batching.warn(text);
                self.gather_again(&ids);
            }
            Err(cause) => {
                if !is_over {
                    let lost = ids.iter().map(|id| (id.clone(), Some(cause.clone())));
                    self.submitted.extend(lost);
                }
                self.end(ids, &cause);
            }
        }
    }

    fn gather_again(&mut self, ids: &BTreeSet<String>) {
        self.arrived = Instant::now();
        for id in ids {
            if self.waiting.contains_key(id) {
                self.gather(id.clone());
            }
        }
    }

    /// Stores the replies of a batch that is over, deletes its record, and hands the replies to their callers.
    async fn hand_out(&mut self, collected: CollectedBatch) -> Result<(), AttemptError> {
        let batching = Arc::clone(&self.batching);
        let submits = batching.settings.submits;
        for oddity in collected.output.oddities(&collected.record.contents.ids) {
            let id = &collected.batch.id;
            batching.warn(format!("the output of the batch `{id}` {oddity}"));
        }
        let (mut replies, mut again, mut failed) = (Vec::new(), BTreeSet::new(), Vec::new());
        for id in &collected.record.contents.ids {
            let is_waiting = self.waiting.contains_key(id);
            match self.fate(id, &collected) {
                Ok(Some(reply)) => replies.push((id.clone(), reply)),
                Ok(None) if is_waiting || !submits => {
                    again.insert(id.clone());
                }
                Err(cause) if is_waiting => failed.push((id.clone(), cause)),
                Ok(None) | Err(_) => {}
            }
        }
        let stored = batching.host.receive(&batching.chat, &replies).await;
        stored.map_err(|error| terminal("cannot store the replies of a batch", error))?;
        collected.record.delete();
        // Without batches, the program sends them when it needs them.
        let without = if submits {
            "asked again in the next batch"
        } else {
            "without a reply"
        };
        batching.note(format!(
            "batch `{}` of `{}`: {}, {}{}{}",
            collected.batch.id,
            batching.chat.identity,
            collected.batch.word,
            quantity::of(replies.len(), "reply"),
            further(again.len(), without),
            further(failed.len(), "failed")
        ));
        for (id, reply) in replies {
            self.deliver(id, reply);
        }
        self.gather_again(&again);
        for (id, cause) in failed {
            self.fail(&id, &cause);
        }
        Ok(())
    }
    /// What the end of a batch means for one of its requests, whether or not a caller waits for it.
    fn fate(&mut self, id: &str, collected: &CollectedBatch) -> Fate {
        let (line, batch) = (collected.output.line(id), &collected.batch);
        let (chat, submits) = (&self.batching.chat, self.batching.settings.submits);
        if let Some(waiting) = self.waiting.get_mut(id) {
            return waiting.fate(line, batch, chat, submits);
        }
        let mut unknown = Waiting::new(Arc::new(ChatRequest::new(Vec::new())));
        let mut fate = unknown.fate(line, batch, chat, submits);
        // If the server has not counted the tokens of an unknown request, they are those of an average one.
        if let Ok(Some(reply)) = &mut fate
            && reply.usage.estimated
            && reply.usage.input_tokens == 0
        {
            let size = collected.record.contents.size;
            reply.usage.input_tokens = size.input_tokens / size.requests.max(1) as u64;
        }
        fate
    }
}

/// A further part of a sentence: how many requests found this end, if any did.
fn further(count: usize, end: &str) -> String {
    if count == 0 {
        String::new()
    } else {
        format!(", {count} {end}")
    }
}
