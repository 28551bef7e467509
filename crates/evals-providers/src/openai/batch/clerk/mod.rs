//! The task that owns the batches of one model: it gathers requests, submits batches, and hands out replies.

mod archive;
mod draft;
mod fate;
mod owed;
mod shelf;
mod submit;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use evals_models::{ChatError, ChatModel as _, ChatReply, ChatRequest, Failure};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use self::archive::{Archive, Taken};
use self::fate::Fate;
use self::owed::Owed;
use self::shelf::Shelf;
use super::error::BatchError;
use super::event::BatchEvent;
use super::host::BatchSize;
use super::output::Output;
use super::submission::{Collected, Desk, unreadable, unrecorded};
use super::waiting::{Answer, Cause, Waiting};
use crate::chat::RawReply;
use crate::openai::chat::InBatch;

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
        /// What is reserved for it.
        size: Option<BatchSize>,
        /// Whether it is over. A batch that may still be at the server keeps its record and its reservation.
        is_over: bool,
        /// `None` if an earlier process ended before it created the batch.
        result: Result<Option<Box<Collected>>, Cause>,
    },
}

/// Where the reply to a request comes from.
enum Source {
    /// A batch that is over.
    Reply(RawReply),
    /// A batch under way.
    Batch,
    /// The next batch, or a direct call if the settings allow no further batch.
    Next,
}

/// The batches of one model.
pub(super) struct Clerk {
    desk: Desk,
    inbox: mpsc::UnboundedReceiver<Message>,
    /// Every request with callers.
    waiting: BTreeMap<String, Waiting>,
    /// Those of them that are in no batch yet. Their ids order them, because the times at which they came differ from run to run, and a
    /// report says which of them was sent directly.
    gathered: BTreeSet<String>,
    /// When the last of them came.
    arrived: Instant,
    /// The requests of batches under way.
    submitted: BTreeSet<String>,
    /// The records of batches, also of other processes.
    archive: Archive,
    /// Batches that are over and hold replies that are not stored yet.
    shelf: Shelf,
    /// Requests of batches that could not be followed to their end, or whose replies could not be read. The batches may be at the server all
    /// the same. Only a later process can find that out, so this one submits none of the requests again.
    lost: BTreeMap<String, Cause>,
    tasks: JoinSet<Done>,
    /// Whether the model has answered a direct request, or need not.
    is_tried: bool,
    /// Whether a direct request is under way.
    is_trying: bool,
    owed: Owed,
    /// The failure that ends every request.
    broken: Option<Cause>,
}

impl Clerk {
    pub(super) fn new(desk: Desk, inbox: mpsc::UnboundedReceiver<Message>) -> Self {
        Self {
            is_tried: !desk.settings.first_direct,
            archive: Archive::new(&desk.settings.folder, desk.chat.parameters()),
            desk,
            inbox,
            waiting: BTreeMap::new(),
            gathered: BTreeSet::new(),
            arrived: Instant::now(),
            submitted: BTreeSet::new(),
            shelf: Shelf::default(),
            lost: BTreeMap::new(),
            tasks: JoinSet::new(),
            is_trying: false,
            owed: Owed::new(),
            broken: None,
        }
    }

    /// Works until the model is dropped.
    pub(super) async fn work(mut self) {
        if let Err(error) = self.archive.scan() {
            self.broken = Some(unrecorded(error));
        }
        loop {
            let due = self.due();
            let is_waiting = !self.gathered.is_empty() && !self.is_trying;
            tokio::select! {
                biased;
                message = self.inbox.recv() => match message {
                    Some(Message::Ask { id, request, caller }) => self.ask(id, request, caller),
                    Some(Message::Stored { id }) => self.stored(&id),
                    None => return,
                },
                Some(done) = self.tasks.join_next(), if !self.tasks.is_empty() => {
                    // A task panics only because of a bug. Its callers must not wait for ever.
                    match done {
                        Ok(done) => self.done(done),
                        Err(error) => self.break_off(&Cause::new(Failure::Terminal, error)),
                    }
                }
                () = sleep_until(due), if is_waiting => self.consider().await,
            }
        }
    }

    /// When the gathered requests may be submitted: at once if they fill a batch, or else when no further one has come for a while. In both
    /// cases the callers of earlier replies first have time to pay, so that the budget knows what these cost and not only the most that they
    /// may cost.
    fn due(&self) -> Instant {
        let quiet = self.desk.settings.quiet;
        let settled = self.owed.settled(quiet);
        if self.is_full() {
            settled
        } else {
            settled.max(self.arrived + quiet)
        }
    }

    /// Whether the gathered requests fill a batch.
    fn is_full(&self) -> bool {
        self.gathered.len() >= self.desk.settings.max_requests.get()
    }

    fn ask(&mut self, id: String, request: Arc<ChatRequest>, caller: oneshot::Sender<Answer>) {
        if let Some(waiting) = self.waiting.get_mut(&id) {
            waiting.add(caller);
            return;
        }
        let waiting = Waiting::new(request, caller);
        if let Some(cause) = &self.broken {
            waiting.fail(&self.desk.chat.identity, cause);
            return;
        }
        match self.source(&id, &waiting.request) {
            Ok(Source::Reply(reply)) => waiting.reply(reply),
            Ok(Source::Batch) => {
                self.waiting.insert(id, waiting);
            }
            Ok(Source::Next) => self.gather(id, waiting),
            Err(cause) => waiting.fail(&self.desk.chat.identity, &cause),
        }
    }

    /// Finds out where the reply to a request comes from. Takes over the batches of earlier processes with this request.
    fn source(&mut self, id: &str, request: &ChatRequest) -> Result<Source, Cause> {
        self.take_over(id)?;
        if let Some(cause) = self.lost.get(id) {
            return Err(cause.clone());
        }
        if self.submitted.contains(id) {
            return Ok(Source::Batch);
        }
        let chat = &self.desk.chat;
        let reply = self.shelf.reply(id, |response| {
            let (status, body) = (response.status_code, &response.body);
            match chat.read_in_batch(status, body, request, chat.dialect()) {
                InBatch::Reply(reply) => Some(reply),
                InBatch::Conceded | InBatch::Failed(_) => None,
            }
        });
        let reply = reply.map_err(|(replies, error)| unreadable(&replies, error))?;
        Ok(reply.map_or(Source::Next, Source::Reply))
    }

    /// Takes over the batches of earlier processes with this request.
    fn take_over(&mut self, id: &str) -> Result<(), Cause> {
        loop {
            match self.archive.take(id).map_err(unrecorded)? {
                Taken::Nowhere => return Ok(()),
                Taken::InUse(record) => {
                    let elsewhere = BatchError::Elsewhere { record };
                    return Err(Cause::new(Failure::Terminal, elsewhere));
                }
                Taken::Record(record) if record.contents.is_collected() => {
                    let replies = record.replies();
                    match Output::index(&replies) {
                        Ok(output) => self.shelf.keep(*record, output),
                        Err(error) => {
                            let cause = unreadable(&replies, error);
                            self.lose(&record.contents.ids, &cause);
                            return Err(cause);
                        }
                    }
                }
                Taken::Record(record) => self.resume(*record),
            }
        }
    }

    /// Gathers a request for the next batch, or has its callers send it if the settings allow no further batch.
    fn gather(&mut self, id: String, waiting: Waiting) {
        if !self.desk.settings.submits {
            waiting.send_directly();
            return;
        }
        self.arrived = Instant::now();
        self.gathered.insert(id.clone());
        self.waiting.insert(id, waiting);
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Tried { id, answer } => self.tried(&id, answer),
            Done::Batch {
                ids,
                size,
                is_over,
                result,
            } => {
                for id in &ids {
                    self.submitted.remove(id);
                }
                let mut unused = size.filter(|_| is_over);
                match result {
                    Ok(Some(collected)) => self.hand_out(&ids, *collected, unused.as_mut()),
                    Ok(None) => self.gather_again(&ids),
                    // The server has answered no request of this batch, and a direct call needs none.
                    Err(cause) if is_over && !self.desk.settings.submits => {
                        let reason = evals_messages::chain(&cause.source);
                        let text = format!("{reason}; its requests are sent directly");
                        self.desk.host.on_event(&BatchEvent::Warning { text });
                        self.gather_again(&ids);
                    }
                    Err(cause) => {
                        if !is_over {
                            self.lose(&ids, &cause);
                        }
                        self.end(ids, &cause);
                    }
                }
                if let Some(unused) = unused {
                    self.desk.host.release(&unused);
                }
            }
        }
    }

    /// Notes that this process submits these requests no more.
    fn lose(&mut self, ids: &BTreeSet<String>, cause: &Cause) {
        let lost = ids.iter().map(|id| (id.clone(), cause.clone()));
        self.lost.extend(lost);
    }

    fn tried(&mut self, id: &str, answer: Result<ChatReply, ChatError>) {
        self.is_trying = false;
        // Its caller now pays for the reply and goes on, which may lead to further requests.
        self.arrived = Instant::now();
        self.owed.hand_out();
        if answer.is_err() {
            self.release_owed(id);
        }
        let Some(waiting) = self.waiting.remove(id) else {
            return;
        };
        match answer {
            Ok(reply) => {
                self.is_tried = true;
                if waiting.is_abandoned() {
                    self.keep_cost(id, reply.usage);
                }
                waiting.deliver(&reply);
            }
            Err(error) => {
                let cause = Cause::new(error.failure, error.source);
                waiting.fail(&self.desk.chat.identity, &cause);
                if error.failure == Failure::Terminal {
                    let ids = std::mem::take(&mut self.gathered);
                    self.end(ids, &cause);
                } else {
                    // Only this request failed, or the server accepts no direct requests at the moment. Batches may still work.
                    self.is_tried = true;
                }
            }
        }
    }

    /// Gathers the requests of a batch that was never created.
    fn gather_again(&mut self, ids: &BTreeSet<String>) {
        for id in ids {
            if let Some(waiting) = self.waiting.remove(id) {
                self.gather(id.clone(), waiting);
            }
        }
    }

    /// Hands the replies of a batch to their callers. Leaves in `reserved` what they do not cost: a reply stays reserved until it is paid for.
    fn hand_out(
        &mut self,
        ids: &BTreeSet<String>,
        collected: Collected,
        mut reserved: Option<&mut BatchSize>,
    ) {
        let Collected {
            mut record,
            output,
            batch,
        } = collected;
        for oddity in output.oddities(ids) {
            let text = format!("the output of the batch `{}` {oddity}", batch.id);
            self.desk.host.on_event(&BatchEvent::Warning { text });
        }
        let submits = self.desk.settings.submits;
        let needs = |id: &&String| record.contents.needs(id);
        let held = output.successes().filter(needs).count();
        let needed = record.contents.needed();
        let (mut replies, mut again, mut failed) = (0, 0, 0);
        for id in ids {
            let Some(mut waiting) = self.waiting.remove(id) else {
                continue;
            };
            let line = match output.line(id) {
                Ok(line) => line,
                Err(error) => {
                    // The reply stays where it is, for the next process. It is paid for, so its cost stays reserved.
                    failed += 1;
                    if output.is_success(id)
                        && let Some(reserved) = reserved.as_deref_mut()
                    {
                        let size = BatchSize::of(&self.desk.chat, &waiting.request);
                        self.owe(id, reserved.take(size));
                    }
                    let cause = unreadable(&record.replies(), error);
                    waiting.fail(&self.desk.chat.identity, &cause);
                    continue;
                }
            };
            let end = (batch.state, batch.id.as_str());
            match Fate::of(&mut waiting, line, end, &self.desk.chat) {
                Fate::Reply(reply) => {
                    replies += 1;
                    if let Some(reserved) = reserved.as_deref_mut() {
                        let size = BatchSize::of(&self.desk.chat, &waiting.request);
                        self.owe(id, reserved.take(size));
                    }
                    if waiting.is_abandoned() {
                        self.keep_cost(id, reply.usage);
                    }
                    waiting.reply(reply);
                    continue;
                }
                Fate::Again => {
                    again += 1;
                    self.gather(id.clone(), waiting);
                }
                Fate::Cancelled(_) if !submits => {
                    again += 1;
                    self.gather(id.clone(), waiting);
                }
                Fate::Cancelled(cause) | Fate::Failed(cause) => {
                    failed += 1;
                    waiting.fail(&self.desk.chat.identity, &cause);
                }
            }
            // A lost line does no harm: the reply is read again and fails again.
            let _ = record.settle(id);
        }
        // A process that submits no batches has few requests under way at a time, so most of the replies are not waited for yet.
        let (replies, again, directly) = if submits {
            (replies, again, 0)
        } else {
            (held, 0, needed.saturating_sub(held + failed))
        };
        self.desk.host.on_event(&BatchEvent::Collected {
            model: self.desk.model(),
            batch: batch.id,
            state: batch.word,
            replies,
            again,
            directly,
            failed,
        });
        self.shelf.keep(record, output);
    }

    fn stored(&mut self, id: &str) {
        self.release_owed(id);
        if self.archive.has_reply(id) {
            // If the record cannot be opened now, a later process notes that the reply is stored.
            let _ = self.take_over(id);
        }
        self.shelf.stored(id);
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
