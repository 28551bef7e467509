//! The task that owns the batches of one model: it gathers requests, submits batches, and hands out replies.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use evals_models::{ChatError, ChatModel as _, ChatReply, ChatRequest, Failure};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::error::BatchError;
use super::event::BatchEvent;
use super::host::BatchSize;
use super::input;
use super::output::{Output, OutputLine};
use super::record::Record;
use super::status::State;
use super::submission::{Collected, Desk, cause, unreadable, unrecorded};
use super::waiting::{Answer, Cause, Waiting};
use crate::chat::{RawReply, raw_reply};
use crate::openai::chat::InBatch;
use crate::openai::dialect::Dialect;
use crate::tokens;
use crate::traffic::AttemptError;

/// In how many batches a request may meet a temporary failure.
const ATTEMPTS: u32 = 3;
/// In how many batches a request may expire, and in how many its line may be missing.
const PATIENCE: u32 = 2;

/// A message to the clerk.
#[derive(Debug)]
pub(super) enum Message {
    /// Asks for a reply.
    Ask {
        id: String,
        request: Arc<ChatRequest>,
        caller: oneshot::Sender<Answer>,
    },
    /// The caller has stored the reply, or has no use for it.
    Stored { id: String },
}

/// The end of a task of the clerk.
enum Done {
    /// The request that was sent directly.
    Tried {
        id: String,
        answer: Result<ChatReply, ChatError>,
    },
    /// A batch.
    Batch {
        ids: BTreeSet<String>,
        /// What is not reserved any more. A batch that may still be at the server keeps its record and its reservation.
        size: Option<BatchSize>,
        result: Result<Box<Collected>, Cause>,
    },
}

/// What happens to a request whose batch is over.
enum Fate {
    Reply(RawReply),
    Again,
    Failed(Cause),
}

/// A batch that is over and holds replies that are not stored yet.
struct Kept {
    record: Record,
    output: Output,
    /// How many.
    left: usize,
}

impl Kept {
    /// Whether it holds a reply to a request of the batch, and the reply is still needed.
    fn holds(&self, id: &str) -> bool {
        let record = &self.record;
        self.output.is_success(id) && record.contents.ids.contains(id) && !record.is_settled(id)
    }
}

/// The batches of one model.
pub(super) struct Clerk {
    desk: Desk,
    inbox: mpsc::UnboundedReceiver<Message>,
    /// Every request with callers.
    waiting: BTreeMap<String, Waiting>,
    /// Those of them that are in no batch yet, in the order in which they came.
    gathered: Vec<String>,
    /// When the last of them came.
    arrived: Instant,
    /// The requests of batches under way.
    submitted: BTreeSet<String>,
    /// Batches of earlier processes, by the server's names. They are waited for as soon as a request of theirs comes.
    pending: BTreeMap<String, Record>,
    /// Batches that are over and hold replies that are not stored yet.
    collected: Vec<Kept>,
    /// Requests in batches of other processes.
    elsewhere: BTreeMap<String, PathBuf>,
    /// Requests in batches that could not be followed to their end, which may be at the server all the same. Only a later process can
    /// find that out, so this one submits none of them again.
    lost: BTreeMap<String, Cause>,
    tasks: JoinSet<Done>,
    /// Whether the model has answered a direct request, or need not.
    is_tried: bool,
    /// Whether a direct request is under way.
    is_trying: bool,
    /// The failure that ends every request.
    broken: Option<Cause>,
}

impl Clerk {
    pub(super) fn new(desk: Desk, inbox: mpsc::UnboundedReceiver<Message>) -> Self {
        Self {
            is_tried: !desk.settings.first_direct,
            desk,
            inbox,
            waiting: BTreeMap::new(),
            gathered: Vec::new(),
            arrived: Instant::now(),
            submitted: BTreeSet::new(),
            pending: BTreeMap::new(),
            collected: Vec::new(),
            elsewhere: BTreeMap::new(),
            lost: BTreeMap::new(),
            tasks: JoinSet::new(),
            is_trying: false,
            broken: None,
        }
    }

    /// Works until the model is dropped.
    pub(super) async fn work(mut self) {
        if let Err(cause) = self.recover().await {
            self.broken = Some(cause);
        }
        loop {
            let quiet = self.arrived + self.desk.settings.quiet;
            let is_waiting = !self.gathered.is_empty() && !self.is_trying;
            tokio::select! {
                biased;
                message = self.inbox.recv() => match message {
                    Some(Message::Ask { id, request, caller }) => self.ask(id, request, caller),
                    Some(Message::Stored { id }) => self.stored(&id),
                    None => return,
                },
                Some(done) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    // A task fails to end properly only on a bug. Its callers must not wait for ever.
                    match done {
                        Ok(done) => self.done(done),
                        Err(error) => self.break_off(&Cause::new(Failure::Terminal, error)),
                    }
                }
                () = sleep_until(quiet), if is_waiting => self.consider(),
            }
            let most = self.desk.settings.max_requests.get();
            if self.gathered.len() >= most && !self.is_trying {
                self.submit();
            }
        }
    }

    /// Finds out what became of the batches of earlier processes.
    async fn recover(&mut self) -> Result<(), Cause> {
        let settings = &self.desk.settings;
        let model = self.desk.chat.parameters();
        let found = Record::find(&settings.folder, &model).map_err(unrecorded)?;
        let pause = settings.poll_interval;
        self.elsewhere = found.elsewhere;
        for mut record in found.records {
            if record.is_collected() {
                let replies = record.replies();
                let output = Output::index(&replies);
                let output = output.map_err(|error| unreadable(&replies, error))?;
                self.keep(record, output);
                continue;
            }
            let batch = match (record.contents.batch.clone(), record.contents.file.clone()) {
                (Some(batch), _) => Some(batch),
                (None, None) => None,
                (None, Some(file)) => {
                    let find = || self.desk.endpoint.find(&file, &record.key, record.path());
                    let mut found = find().await.map_err(cause)?;
                    if found.is_none() && record.is_recent() {
                        sleep(pause).await;
                        found = find().await.map_err(cause)?;
                    }
                    if let Some(batch) = &found {
                        record.created(&batch.id).map_err(unrecorded)?;
                    }
                    found.map(|batch| batch.id)
                }
            };
            match batch {
                Some(batch) => {
                    self.pending.insert(batch, record);
                }
                // It was never created.
                None => record.delete(),
            }
        }
        Ok(())
    }

    fn ask(&mut self, id: String, request: Arc<ChatRequest>, caller: oneshot::Sender<Answer>) {
        if let Some(waiting) = self.waiting.get_mut(&id) {
            waiting.add(caller);
            return;
        }
        let waiting = Waiting::new(request, caller);
        if let Some(cause) = self.broken.as_ref().or_else(|| self.lost.get(&id)) {
            waiting.fail(&self.desk.chat.identity, cause);
            return;
        }
        if let Some(record) = self.elsewhere.get(&id) {
            let record = record.clone();
            let cause = Cause::new(Failure::Terminal, BatchError::Elsewhere { record });
            waiting.fail(&self.desk.chat.identity, &cause);
            return;
        }
        let batch = self
            .pending
            .iter()
            .find(|(_, record)| record.contents.ids.contains(&id));
        let batch = batch.map(|(batch, _)| batch.clone());
        if let Some(batch) = batch
            && let Some(record) = self.pending.remove(&batch)
        {
            self.resume(batch, record);
        }
        if self.submitted.contains(&id) {
            self.waiting.insert(id, waiting);
            return;
        }
        match self.collected_reply(&id, &waiting.request) {
            Some(reply) => waiting.reply(reply),
            None => self.gather(id, waiting),
        }
    }

    /// The reply to a request in a batch that was collected before.
    fn collected_reply(&mut self, id: &str, request: &ChatRequest) -> Option<RawReply> {
        while let Some(position) = self.holding(id) {
            let line = self.collected[position].output.line(id).ok()?;
            let response = line.and_then(|line| line.response);
            if let Some(response) = response {
                let dialect = self.desk.chat.dialect();
                let (status, body) = (response.status_code, &response.body);
                let read = self.desk.chat.read_in_batch(status, body, request, dialect);
                if let InBatch::Reply(reply) = read {
                    return Some(reply);
                }
            }
            // It would fail again.
            self.settle(position, id);
        }
        None
    }

    /// The batch that holds a reply to this request.
    fn holding(&self, id: &str) -> Option<usize> {
        self.collected.iter().position(|kept| kept.holds(id))
    }

    /// Notes that a reply is needed no more, and deletes the files of its batch after the last one.
    fn settle(&mut self, position: usize, id: &str) {
        let kept = &mut self.collected[position];
        // A lost line does no harm: the next process notes it again.
        let _ = kept.record.settle(id);
        kept.left -= 1;
        if kept.left == 0 {
            self.collected.remove(position).record.delete();
        }
    }

    fn gather(&mut self, id: String, waiting: Waiting) {
        self.arrived = Instant::now();
        self.gathered.push(id.clone());
        self.waiting.insert(id, waiting);
    }

    /// Submits what was gathered, unless something is under way that may lead to more.
    fn consider(&mut self) {
        let own = self.desk.endpoint.calls();
        if self.desk.host.under_way() > own {
            self.arrived = Instant::now();
        } else {
            self.submit();
        }
    }

    /// Submits what was gathered, as far as it fits into one batch. The first request of a model is sent directly before.
    fn submit(&mut self) {
        let abandoned = |id: &String| {
            let waiting = self.waiting.get(id);
            waiting.is_none_or(Waiting::is_abandoned)
        };
        let (gone, gathered): (Vec<_>, Vec<_>) = std::mem::take(&mut self.gathered)
            .into_iter()
            .partition(abandoned);
        self.gathered = gathered;
        for id in gone {
            self.waiting.remove(&id);
        }
        if self.gathered.is_empty() {
            return;
        }
        if self.is_tried {
            self.submit_batch();
        } else {
            self.try_first();
        }
    }

    fn try_first(&mut self) {
        let id = self.gathered.remove(0);
        let request = Arc::clone(&self.waiting[&id].request);
        let chat = Arc::clone(&self.desk.chat);
        self.is_trying = true;
        self.tasks.spawn(async move {
            let answer = chat.chat(&request).await;
            Done::Tried { id, answer }
        });
    }

    fn submit_batch(&mut self) {
        let dialect = self.desk.chat.dialect();
        let most = self.desk.settings.max_requests.get();
        let mut content = Vec::new();
        let mut ids = BTreeSet::new();
        let mut size = BatchSize {
            requests: 0,
            input_tokens: 0,
            output_tokens: Some(0),
        };
        let mut rest = Vec::new();
        for id in std::mem::take(&mut self.gathered) {
            if ids.len() == most || !rest.is_empty() {
                rest.push(id);
                continue;
            }
            match self.line(&id, dialect) {
                Ok(line) if content.len() + line.len() > self.desk.settings.max_bytes => {
                    rest.push(id);
                }
                Ok(line) => {
                    content.extend_from_slice(&line);
                    self.enter(&id, dialect, &mut size);
                    ids.insert(id);
                }
                Err(cause) => self.fail(&id, &cause),
            }
        }
        self.gathered = rest;
        if ids.is_empty() {
            return;
        }
        if let Err(error) = self.desk.host.reserve(&size) {
            let refused = BatchError::NotAllowed(crate::traffic::Refused::new(error));
            self.end(ids, &Cause::new(Failure::Terminal, refused));
            return;
        }
        let model = self.desk.chat.parameters();
        let record = Record::create(&self.desk.settings.folder, model, ids.clone(), size);
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                self.desk.host.release(&size);
                self.end(ids, &unrecorded(error));
                return;
            }
        };
        self.desk.host.on_event(&BatchEvent::Submitting {
            model: self.desk.model(),
            requests: size.requests,
        });
        self.submitted.extend(ids.iter().cloned());
        let desk = self.desk.clone();
        self.tasks.spawn(async move {
            let path = record.path().to_owned();
            let result = desk.submit(record, content).await.map(Box::new);
            let is_over = result.is_ok() || !path.exists();
            let size = Some(size).filter(|_| is_over);
            Done::Batch { ids, size, result }
        });
    }

    /// The line of a request in the input file.
    fn line(&self, id: &str, dialect: Dialect) -> Result<Vec<u8>, Cause> {
        let request = &self.waiting[id].request;
        let body = self.desk.chat.body(request, dialect);
        let body = body.map_err(|error| Cause::new(Failure::Content, error))?;
        let line = input::line(id, &body);
        let (bytes, most) = (line.len(), self.desk.settings.max_bytes);
        if bytes > most {
            let error = BatchError::TooLarge { bytes, most };
            return Err(Cause::new(Failure::Content, error));
        }
        Ok(line)
    }

    /// Enters a request into a batch.
    fn enter(&mut self, id: &str, dialect: Dialect, size: &mut BatchSize) {
        let Some(waiting) = self.waiting.get_mut(id) else {
            return;
        };
        waiting.sent = Some(dialect);
        waiting.rounds.all += 1;
        size.requests += 1;
        let texts = raw_reply::texts(&waiting.request);
        let read: u64 = texts.iter().map(|text| tokens::at_most(text)).sum();
        size.input_tokens = size.input_tokens.saturating_add(read);
        let written = self.desk.chat.budget(&waiting.request).map(u64::from);
        size.output_tokens = size
            .output_tokens
            .zip(written)
            .map(|(sum, one)| sum.saturating_add(one));
    }

    fn resume(&mut self, batch: String, record: Record) {
        let ids = record.contents.ids.clone();
        self.submitted.extend(ids.iter().cloned());
        let size = record.contents.size;
        if let Some(size) = &size {
            self.desk.host.resume(size);
        }
        let desk = self.desk.clone();
        self.tasks.spawn(async move {
            let path = record.path().to_owned();
            let result = desk.resume(record, batch).await.map(Box::new);
            let is_over = result.is_ok() || !path.exists();
            let size = size.filter(|_| is_over);
            Done::Batch { ids, size, result }
        });
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Tried { id, answer } => self.tried(&id, answer),
            Done::Batch { ids, size, result } => {
                for id in &ids {
                    self.submitted.remove(id);
                }
                if let Some(size) = size {
                    self.desk.host.release(&size);
                }
                match result {
                    Ok(collected) => self.hand_out(&ids, *collected),
                    Err(cause) => {
                        let lost = ids.iter().map(|id| (id.clone(), cause.clone()));
                        self.lost.extend(lost);
                        self.end(ids, &cause);
                    }
                }
            }
        }
    }

    fn tried(&mut self, id: &str, answer: Result<ChatReply, ChatError>) {
        self.is_trying = false;
        let Some(waiting) = self.waiting.remove(id) else {
            return;
        };
        match answer {
            Ok(reply) => {
                self.is_tried = true;
                waiting.deliver(&reply);
            }
            Err(error) => {
                let cause = Cause::new(error.failure, error.source);
                waiting.fail(&self.desk.chat.identity, &cause);
                if error.failure == Failure::Terminal {
                    let ids = std::mem::take(&mut self.gathered);
                    self.end(ids, &cause);
                } else {
                    // Only this request failed, or the server answers none directly right now: its batches may be well.
                    self.is_tried = true;
                }
            }
        }
    }

    /// Hands the replies of a batch to their callers.
    fn hand_out(&mut self, ids: &BTreeSet<String>, collected: Collected) {
        let Collected {
            mut record,
            output,
            batch,
        } = collected;
        self.warn(ids, &output, &batch.id);
        let (mut replies, mut again, mut failed) = (0, 0, 0);
        for id in ids {
            let Some(mut waiting) = self.waiting.remove(id) else {
                continue;
            };
            let line = match output.line(id) {
                Ok(line) => line,
                Err(error) => {
                    // The reply stays where it is, for the next process.
                    failed += 1;
                    let cause = unreadable(&record.replies(), error);
                    waiting.fail(&self.desk.chat.identity, &cause);
                    continue;
                }
            };
            match self.fate(&mut waiting, line, batch.state, &batch.id) {
                Fate::Reply(reply) => {
                    replies += 1;
                    waiting.reply(reply);
                    continue;
                }
                Fate::Again => {
                    again += 1;
                    self.gather(id.clone(), waiting);
                }
                Fate::Failed(cause) => {
                    failed += 1;
                    waiting.fail(&self.desk.chat.identity, &cause);
                }
            }
            // A lost line does no harm: the reply is read again and fails again.
            let _ = record.settle(id);
        }
        self.desk.host.on_event(&BatchEvent::Collected {
            model: self.desk.model(),
            batch: batch.id,
            state: batch.word,
            replies,
            again,
            failed,
        });
        self.keep(record, output);
    }

    fn fate(
        &self,
        waiting: &mut Waiting,
        line: Option<OutputLine>,
        state: State,
        batch: &str,
    ) -> Fate {
        let batch = batch.to_owned();
        let Some(line) = line else {
            return match state {
                State::Expired => expired(waiting, batch),
                State::Cancelled => Fate::Failed(Cause::new(
                    Failure::Terminal,
                    BatchError::Cancelled { batch },
                )),
                State::Completed | State::Failed | State::UnderWay => {
                    waiting.rounds.missing += 1;
                    bounded(waiting.rounds.missing, PATIENCE, || {
                        Cause::new(Failure::Transient, BatchError::Missing { batch })
                    })
                }
            };
        };
        if let Some(response) = &line.response {
            let dialect = waiting.sent.unwrap_or_else(|| self.desk.chat.dialect());
            let (status, body) = (response.status_code, &response.body);
            let chat = &self.desk.chat;
            return match chat.read_in_batch(status, body, &waiting.request, dialect) {
                InBatch::Reply(reply) => Fate::Reply(reply),
                InBatch::Conceded => Fate::Again,
                InBatch::Failed(error) => failed(waiting, error),
            };
        }
        match line.code() {
            Some("batch_expired") => expired(waiting, batch),
            Some("batch_cancelled") => Fate::Failed(Cause::new(
                Failure::Terminal,
                BatchError::Cancelled { batch },
            )),
            _ => failed(waiting, self.refused(&line)),
        }
    }

    fn refused(&self, line: &OutputLine) -> AttemptError {
        let error = serde_json::json!({"error": line.error});
        self.desk.chat.server.refused_inside(&error)
    }

    /// Says what is odd about the output of a batch.
    fn warn(&self, ids: &BTreeSet<String>, output: &Output, batch: &str) {
        let unknown = output.ids().filter(|id| !ids.contains(*id)).count();
        let odd = [
            (
                output.unreadable,
                "that is no JSON with a `custom_id`",
                "that are no JSON with a `custom_id`",
            ),
            (
                unknown,
                "of a request that is not in the batch",
                "of requests that are not in the batch",
            ),
        ];
        for (count, one, many) in odd {
            if count > 0 {
                let lines = evals_messages::quantity::of(count, "line");
                let which = if count == 1 { one } else { many };
                self.desk.host.on_event(&BatchEvent::Warning {
                    text: format!("the output of the batch `{batch}` has {lines} {which}; skipped"),
                });
            }
        }
    }

    /// Keeps the replies of a batch until they are stored.
    fn keep(&mut self, record: Record, output: Output) {
        let mut kept = Kept {
            record,
            output,
            left: 0,
        };
        let successes = kept.output.successes();
        kept.left = successes.filter(|id| kept.holds(id)).count();
        match kept.left {
            0 => kept.record.delete(),
            _ => self.collected.push(kept),
        }
    }

    fn stored(&mut self, id: &str) {
        while let Some(position) = self.holding(id) {
            self.settle(position, id);
        }
    }

    /// Ends every request, now and later.
    fn break_off(&mut self, cause: &Cause) {
        self.broken = Some(cause.clone());
        self.gathered.clear();
        let ids: Vec<String> = self.waiting.keys().cloned().collect();
        self.end(ids, cause);
    }

    /// Ends requests with a failure.
    fn end(&mut self, ids: impl IntoIterator<Item = String>, cause: &Cause) {
        for id in ids {
            self.fail(&id, cause);
        }
    }

    fn fail(&mut self, id: &str, cause: &Cause) {
        if let Some(waiting) = self.waiting.remove(id) {
            waiting.fail(&self.desk.chat.identity, cause);
        }
    }
}

fn expired(waiting: &mut Waiting, batch: String) -> Fate {
    waiting.rounds.expired += 1;
    bounded(waiting.rounds.expired, PATIENCE, || {
        Cause::new(Failure::Terminal, BatchError::Expired { batch })
    })
}

fn failed(waiting: &mut Waiting, error: AttemptError) -> Fate {
    if error.failure != Failure::Transient {
        return Fate::Failed(cause(error));
    }
    waiting.rounds.failed += 1;
    bounded(waiting.rounds.failed, ATTEMPTS, || {
        let source = crate::traffic::Refused::new(error.source);
        let batches = ATTEMPTS;
        Cause::new(Failure::Transient, BatchError::Attempts { batches, source })
    })
}

/// Another batch, or the failure once there were `most`.
fn bounded(rounds: u32, most: u32, failure: impl FnOnce() -> Cause) -> Fate {
    if rounds < most {
        Fate::Again
    } else {
        Fate::Failed(failure())
    }
}
